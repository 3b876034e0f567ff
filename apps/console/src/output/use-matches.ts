import { useEffect, useState } from 'react';
import { type OutputRow, withoutColours } from './output-lines.ts';

/** A search stops here: no person steps through ten thousand rows. */
const mostMatches = 10_000;
const rowsAtOnce = 20_000;

/** Finds the rows with the query. A long output is searched in parts, with pauses for the page between the parts. */
export function useMatches(rows: readonly OutputRow[], query: string) {
  const [found, setFound] = useState<number[]>([]);
  const [at, setAt] = useState(-1);
  const needle = query.toLowerCase();
  const count = rows.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows is the same array while it grows
  useEffect(() => {
    setAt(-1);
    setFound([]);
    if (needle === '') return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const matches: number[] = [];
    const look = (from: number) => {
      const end = Math.min(rows.length, from + rowsAtOnce);
      for (let row = from; row < end && matches.length < mostMatches; row++) {
        if (
          withoutColours(rows[row]?.text ?? '')
            .toLowerCase()
            .includes(needle)
        )
          matches.push(row);
      }
      setFound([...matches]);
      if (end < rows.length && matches.length < mostMatches) timer = setTimeout(() => look(end));
    };
    look(0);
    return () => clearTimeout(timer);
  }, [needle, count]);
  const step = (by: number): number | undefined => {
    if (found.length === 0) return undefined;
    const next = (at + by + found.length) % found.length;
    setAt(next);
    return found[next];
  };
  const total = `${found.length.toLocaleString('en')}${found.length === mostMatches ? ' or more' : ''}`;
  return {
    current: at < 0 ? undefined : found[at],
    label: at < 0 ? `${total} found` : `${at + 1} of ${total}`,
    next: () => step(1),
    previous: () => step(at < 0 ? 0 : -1),
  };
}
