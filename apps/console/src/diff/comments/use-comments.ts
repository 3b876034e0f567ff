import { useMemo, useState } from 'react';
import type { DiffItem } from '../diff-items.ts';
import { lineAt } from '../diff-lines.ts';
import type { DiffStat } from '../use-files.ts';
import { useDrafts } from './drafts.ts';
import { type Placed, usePlaces } from './use-places.ts';

/** Puts each draft below its line; below the head of its file when the line is gone, or is not among the lines of the diff. */
function withDrafts(items: readonly DiffItem[], placed: readonly Placed[]): readonly DiffItem[] {
  if (placed.length === 0) return items;
  const homes = new Map<DiffItem, Placed[]>();
  for (const one of placed) {
    const home = items.find((item) => isLineOf(item, one)) ?? items.find((item) => isFileOf(item, one));
    if (home !== undefined) homes.set(home, [...(homes.get(home) ?? []), one]);
  }
  return items.flatMap((item) => [
    item,
    ...(homes.get(item) ?? []).map(
      (one): DiffItem => ({ kind: 'draft', key: `draft ${one.draft.id}`, path: pathOf(one), placed: one }),
    ),
  ]);
}

/** Drafts of files that are not part of the diff, or are folded. */
const unseenOf = (items: readonly DiffItem[], placed: readonly Placed[]): Placed[] =>
  placed.filter((one) => !items.some((item) => isFileOf(item, one)));

const pathOf = ({ draft, place }: Placed): string => (place.is === 'here' ? place.path : draft.path);

const isFileOf = (item: DiffItem, one: Placed): boolean =>
  item.kind === 'file' && (item.file.path === pathOf(one) || item.file.moved_from === pathOf(one));

function isLineOf(item: DiffItem, one: Placed): boolean {
  if (item.kind !== 'row' || one.place.is !== 'here' || item.path !== one.place.path) return false;
  return lineAt(item.row, one.draft.side)?.[one.draft.side] === one.place.line;
}

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
