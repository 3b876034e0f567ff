import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface Props {
  ids: readonly string[];
  label: string;
  rowHeight: number;
  row: (id: string, index: number) => ReactNode;
  /** Called when the last rows come into sight. */
  onEnd?: (() => void) | undefined;
}

/** A list of any length with the rows in sight alone. It scrolls with the page. */
export function LongList({ ids, label, rowHeight, row, onEnd }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: ids.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: top,
    getItemKey: (index) => ids[index] ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once for each end
  useEffect(() => {
    if (last >= ids.length - 10) onEnd?.();
  }, [last, ids.length]);
  return (
    <ul ref={list} className="card long-list" aria-label={label} style={{ height: virtual.getTotalSize() }}>
      {items.map(({ key, index, start }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          aria-setsize={ids.length}
          aria-posinset={index + 1}
          style={{ transform: `translateY(${start - top}px)` }}
        >
          {row(ids[index] ?? '', index)}
        </li>
      ))}
    </ul>
  );
}
