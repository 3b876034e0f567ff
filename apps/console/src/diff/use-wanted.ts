import { useEffect, useRef } from 'react';
import type { DiffItem } from './diff-row.tsx';

/** Asks for the lines of files that come on the screen. A file once read stays. */
export function useWanted(
  shown: readonly DiffItem[],
  setWanted: (next: (now: readonly string[]) => readonly string[]) => void,
): void {
  const missing = shown.flatMap((item) => (item.kind === 'wanted' ? [item.path] : []));
  const key = JSON.stringify(missing);
  useEffect(() => {
    const paths = JSON.parse(key) as string[];
    if (paths.length > 0) setWanted((now) => [...new Set([...now, ...paths])]);
  }, [key, setWanted]);
}

/** The same array while its items are the same. */
export function useStable<Item>(items: Item[]): readonly Item[] {
  const last = useRef(items);
  if (items.length !== last.current.length || items.some((item, at) => item !== last.current[at])) last.current = items;
  return last.current;
}
