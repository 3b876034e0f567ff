import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { DiffItem } from './diff-items.ts';

/**
 * Holds a file in its place while lines of files above arrive: a chosen file until the person scrolls, otherwise the first row in sight.
 * @returns brings the head of a file to the top of the window
 */
export function useInPlace(virtual: Virtualizer<Window, Element>, items: readonly DiffItem[]): (path: string) => void {
  const chosen = useRef<string>(undefined);
  const seen = useRef<{ items: readonly DiffItem[]; starts: ReadonlyMap<string, number> }>(undefined);
  const toChosen = () => {
    const index = items.findIndex((item) => item.kind === 'file' && item.file.path === chosen.current);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'start' });
    return index >= 0;
  };
  useEffect(() => {
    const forget = () => {
      chosen.current = undefined;
    };
    for (const input of inputs) window.addEventListener(input, forget, { passive: true });
    return () => {
      for (const input of inputs) window.removeEventListener(input, forget);
    };
  }, []);
  useLayoutEffect(() => {
    const before = seen.current;
    if (before !== undefined && before.items !== items && !(chosen.current !== undefined && toChosen())) {
      const moved = movedBy(before.starts, items, virtual);
      if (moved !== 0) window.scrollBy(0, moved);
    }
    const top = virtual.scrollOffset ?? 0;
    const shown = virtual.getVirtualItems().filter(({ end }) => end > top);
    seen.current = { items, starts: new Map(shown.map(({ key, start }) => [String(key), start])) };
  });
  return (path) => {
    chosen.current = path;
    toChosen();
  };
}

const inputs = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** The distance by which the first remaining row in sight has moved. */
function movedBy(
  starts: ReadonlyMap<string, number>,
  items: readonly DiffItem[],
  virtual: Virtualizer<Window, Element>,
): number {
  const index = items.findIndex(({ key }) => starts.has(key));
  const before = starts.get(items[index]?.key ?? '');
  const now = virtual.measurementsCache[index]?.start;
  return before === undefined || now === undefined ? 0 : now - before;
}
