import { plain } from '@holdpoint/readable/unseen';
import { useEffect } from 'react';

/** The title of the tab, with invisible characters shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${plain(title)} · Holdpoint`;
  }, [title]);
}
