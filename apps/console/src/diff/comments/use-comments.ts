import { useMemo, useState } from 'react';
import type { DiffItem } from '../diff-items.ts';
import { lineAt } from '../diff-lines.ts';
import type { DiffStat } from '../use-files.ts';
import { useDrafts } from './drafts.ts';
import { usePlaces } from './use-places.ts';
import { unseenOf, withDrafts } from './with-drafts.ts';

/** The drafts of a run in the rows of a diff. */
export function useComments(stat: DiffStat, lines: readonly DiffItem[]) {
  const drafts = useDrafts(stat.run_id);
  const placed = usePlaces(stat, drafts.all);
  const [begun, setBegun] = useState<string>();
  const items = useMemo(() => withDrafts(lines, placed), [lines, placed]);
  return {
    drafts,
    placed,
    items,
    unseen: unseenOf(lines, placed),
    isBegun: (id: string) => id === begun,
    /** Begins a draft. The line is quoted where the diff has it. */
    begin(path: string, line: number, side: 'old' | 'new'): void {
      const rows = lines.flatMap((item) => (item.kind === 'row' && item.path === path ? [lineAt(item.row, side)] : []));
      const quote = rows.find((each) => each?.[side] === line)?.text ?? '';
      setBegun(drafts.add({ path, line, side, snapshot: side === 'old' ? stat.from : stat.to, quote }));
    },
  };
}
export type Comments = ReturnType<typeof useComments>;
