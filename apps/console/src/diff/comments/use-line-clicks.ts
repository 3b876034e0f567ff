import { type RefObject, useEffect, useRef } from 'react';

/** A click on the number of a line. One listener for the whole diff: a row has no handler of its own. */
export function useLineClicks(
  list: RefObject<HTMLElement | null>,
  onLine: (index: number, side: 'old' | 'new') => void,
): void {
  const newest = useRef(onLine);
  newest.current = onLine;
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const act = ({ target }: MouseEvent): void => {
      const number = target instanceof Element ? target.closest<HTMLElement>('[data-side]') : null;
      const index = number?.closest<HTMLElement>('[data-index]')?.dataset.index;
      const side = number?.dataset.side;
      if (index !== undefined && (side === 'old' || side === 'new')) newest.current(Number(index), side);
    };
    element.addEventListener('click', act);
    return () => element.removeEventListener('click', act);
  }, [list]);
}
