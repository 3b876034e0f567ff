import type { Diff, LineComment } from '@holdpoint/contract/wire';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ask } from '../../api/request.ts';
import { useRunDetail } from '../../api/runs.ts';
import { useWhyNot } from '../../session/session.tsx';
import type { DiffStat } from '../use-files.ts';
import { type Draft, useDrafts } from './drafts.ts';
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

/** The most comments of one message. */
const mostComments = 200;

/** The drafts that have words, as the API takes them: at their present line, or as they were where the line is gone. */
export function toComments(placed: readonly Placed[], snapshots: { from: string; to: string }): LineComment[] {
  return written(placed).map(({ draft: { side, quote, text, ...before }, place }) => {
    const at = place.is === 'here' ? { ...place, snapshot: side === 'old' ? snapshots.from : snapshots.to } : before;
    const { path, line } = at;
    const snapshot = at.snapshot === '' ? undefined : at.snapshot;
    return { path, line, side, snapshot, text, quote: quote === '' ? undefined : quote.slice(0, 1000).toWellFormed() };
  });
}

/** As they were written, where no snapshot is in sight. */
const asWritten = (drafts: readonly Draft[]): LineComment[] =>
  toComments(
    drafts.map((draft) => ({ draft, place: { is: 'unknown' } })),
    { from: '', to: '' },
  );

export const written = (placed: readonly Placed[]): Placed[] =>
  placed.filter(({ draft }) => draft.text.trim() !== '').slice(0, mostComments);

/** The drafts of a run as comments on its files as they are now, to be sent outside of a diff. */
export function useRunComments(runId: string) {
  const drafts = useDrafts(runId);
  const mayRead = useWhyNot('runs:read') === undefined;
  const { data: run } = useRunDetail(runId, mayRead);
  const [from, to] = [run?.workspace.base ?? '', run?.workspace.snapshot ?? ''];
  const isKnown = from !== '' && to !== '';
  const placed = usePlaces({ run_id: runId, from, to }, isKnown ? drafts.all : none);
  const ready = drafts.all.filter(({ text }) => text.trim() !== '');
  return {
    ids: ready.map(({ id }) => id),
    comments: isKnown ? toComments(written(placed), { from, to }) : asWritten(ready),
    remove: drafts.remove,
  };
}

const none = [] as const;
