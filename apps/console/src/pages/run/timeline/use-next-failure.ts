import { useEffect, useState } from 'react';
import { nextFailure } from '../../../shell/keys.tsx';

interface List {
  /** The row at this index is a failed step. */
  isFailed(index: number): boolean;
  count: number;
  scrollTo(index: number): void;
  isShown(index: number): boolean;
}

/** The key for the next failure finds rows of a virtual list that have no element yet. Rows have `data-index`. */
export function useNextFailure({ isFailed, count, scrollTo, isShown }: List): void {
  const [wanted, setWanted] = useState<number>();
  useEffect(() => {
    const find = (): void => {
      const here = Number(document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset.index ?? -1);
      for (let at = here + 1; at < count; at++) {
        if (!isFailed(at)) continue;
        scrollTo(at);
        setWanted(at);
        break;
      }
    };
    document.addEventListener(nextFailure, find);
    return () => document.removeEventListener(nextFailure, find);
  });
  const isReady = wanted !== undefined && isShown(wanted);
  useEffect(() => {
    if (!isReady) return;
    document.querySelector<HTMLElement>(`[data-index="${wanted}"] [data-row]`)?.focus({ preventScroll: true });
    setWanted(undefined);
  }, [isReady, wanted]);
}
