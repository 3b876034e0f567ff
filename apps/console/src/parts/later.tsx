import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

/**
 * A component in a file of its own, and what stands in its place until it has loaded. With `now` the file loads at once; a failed load is
 * tried again when the component is shown. Not `lazy`: React keeps a waiting sign for 300 ms, however soon the file is there.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { now, waiting }: { now: boolean; waiting: ReactNode },
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    loading ??= load().then(
      (component) => {
        Loaded = component;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  if (now) begin().catch(() => {});
  return function Later(props: Props) {
    const [failure, setFailure] = useState<{ error: unknown }>();
    const [, setLoaded] = useState(Loaded !== undefined);
    useEffect(() => {
      // The file may have loaded between the rendering and here.
      begin().then(
        () => setLoaded(true),
        (error: unknown) => setFailure({ error }),
      );
    }, []);
    if (failure) throw failure.error;
    return Loaded ? <Loaded {...props} /> : waiting;
  };
}
