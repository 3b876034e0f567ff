import type { Diff } from '@holdpoint/contract/wire';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ask } from '../../api/request.ts';
import type { DiffStat } from '../use-files.ts';
import type { Draft } from './drafts.ts';
import { moveLine } from './move-line.ts';

/** The present place of a draft's line. `gone`: a later change removed or rewrote the line. `proposed`: a held call would make the line. */
type Place = { is: 'here'; path: string; line: number } | { is: 'gone' | 'reading' | 'unknown' | 'proposed' };

export interface Placed {
  draft: Draft;
  place: Place;
}

/** Follows each draft from the snapshot in which it was written to the snapshot in sight. Snapshots never change, so each way is read once. */
export function usePlaces(
  { run_id, from, to }: Pick<Diff, 'run_id' | 'from' | 'to'>,
  drafts: readonly Draft[],
): Placed[] {
  const combine = useCallback((results: UseQueryResult<Place>[]) => placedBy(drafts, results), [drafts]);
  return useQueries({
    combine,
    queries: drafts.map((draft) => {
      const target = draft.side === 'old' ? from : to;
      return {
        queryKey: ['line', run_id, draft.snapshot, target, draft.path, draft.line, draft.approval],
        staleTime: Infinity,
        queryFn: ({ signal }: { signal: AbortSignal }) => follow(run_id, draft, target, signal),
      };
    }),
  });
}

const placedBy = (drafts: readonly Draft[], results: readonly UseQueryResult<Place>[]): Placed[] =>
  drafts.map((draft, at) => {
    const result = results[at];
    return { draft, place: result?.data ?? { is: result?.error ? 'unknown' : 'reading' } };
  });

async function follow(
  runId: string,
  { snapshot, approval, path, line }: Draft,
  to: string,
  signal: AbortSignal,
): Promise<Place> {
  if (approval !== undefined) return { is: 'proposed' };
  if (snapshot === to) return { is: 'here', path, line };
  const at = `/v1/runs/${encodeURIComponent(runId)}/diff`;
  const { files } = await ask<DiffStat>({ path: at, query: { from: snapshot, to, stat: true }, signal });
  const file = files.find((each) => (each.moved_from ?? each.path) === path);
  if (file === undefined) return { is: 'here', path, line };
  if (file.status === 'deleted' || file.status === 'added' || file.binary) return { is: 'gone' };
  const query = { from: snapshot, to, path: file.path };
  const whole = (await ask<Diff>({ path: at, query, signal })).files.find((each) => each.path === file.path);
  if (whole === undefined || whole.too_large || ('omitted' in whole && whole.omitted)) return { is: 'unknown' };
  const moved = moveLine(whole.hunks, line);
  return moved === undefined ? { is: 'gone' } : { is: 'here', path: file.path, line: moved };
}
