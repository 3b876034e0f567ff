import type { Approval } from '@holdpoint/contract/wire';
import { useMemo, useState } from 'react';
import type { PatchLine } from '../patch-lines.ts';
import { type Drafts, useDrafts } from './drafts.ts';
import { placeProposed } from './place-proposed.ts';
import type { Placed } from './use-places.ts';

/** The needs of the card of a draft. */
export interface Commenting {
  drafts: Drafts;
  isBegun(id: string): boolean;
}

interface Proposed extends Commenting {
  placed: readonly Placed[];
  /** The drafts on a line of the patch. */
  on(line: PatchLine): readonly Placed[];
  /** Drafts whose line the patch has not. */
  unplaced: readonly Placed[];
  snapshots: { from: string; to: string };
  begin(path: string, line: number, side: 'old' | 'new'): void;
}

/**
 * The drafts on the proposal of a held call. No snapshot has its lines, so a draft names the approval. The next approval of the call shows
 * the draft at the line with the same text.
 */
export function useProposed({ id, run_id, replaces, changed }: Approval, lines: readonly PatchLine[]): Proposed {
  const drafts = useDrafts(run_id);
  const [begun, setBegun] = useState<string>();
  return useMemo(() => {
    const asked = [id, replaces, changed?.approval_id];
    const own = drafts.all.filter(({ approval }) => approval !== undefined && asked.includes(approval));
    const placed = own.map((draft): Placed => ({ draft, place: { is: 'proposed' } }));
    const home = new Map(placed.map((one) => [one, placeProposed(lines, one.draft)]));
    return {
      ...{ drafts, placed, snapshots: { from: '', to: '' } },
      on: (line) => placed.filter((one) => home.get(one) === line),
      unplaced: placed.filter((one) => home.get(one) === undefined),
      isBegun: (draftId) => draftId === begun,
      begin(path, line, side) {
        const quote = lines.find((each) => each.path === path && each[side] === line)?.text.slice(1) ?? '';
        setBegun(drafts.add({ path, line, side, snapshot: '', approval: id, quote }));
      },
    };
  }, [id, replaces, changed, drafts, lines, begun]);
}
