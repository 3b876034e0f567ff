import type { Run } from '@holdpoint/contract/wire';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { runs } from '../api/entities.ts';
import { presenceKey } from '../api/presence.ts';
import { goLive, listen, type News, useLiveState } from './live.ts';
import { allTopic } from './messages.ts';
import { createRereader } from './reread.ts';

/** Puts what the stream says into the cache, and reads again what it only hints at. */
export function KeepFresh() {
  const queries = useQueryClient();
  useEffect(() => {
    const again = createRereader(queries);
    const stop = listen(allTopic, (news) => take(news, again));
    const leave = goLive();
    return () => {
      stop();
      leave();
    };
  }, [queries]);
  useReading(queries);
  return null;
}

/** The inbox of a caller without the right to the stream: it is read now and then. */
function useReading(queries: QueryClient): void {
  const isRefused = useLiveState().is === 'refused';
  useEffect(() => {
    if (!isRefused) return;
    const again = createRereader(queries);
    const timer = setInterval(() => {
      again(['approvals']);
      again(presenceKey);
    }, readingMs);
    return () => clearInterval(timer);
  }, [isRefused, queries]);
}

const readingMs = 5000;

function take({ frames, gap }: News, again: (key: readonly string[]) => void): void {
  if (gap) again([]);
  for (const { event, data } of frames) {
    if (event === 'run.changed') takeRun(JSON.parse(data) as Run, again);
    else if (event === 'approval.changed') again(['approvals']);
    else if (event === 'presence.changed') again(presenceKey);
  }
}

/** The status of each run and the number of its approvals, as the stream last told. */
const told = new Map<string, Pick<Run, 'status' | 'pending_approvals'>>();

function takeRun(run: Run, again: (key: readonly string[]) => void): void {
  const { id, status, pending_approvals } = run;
  // An answer may have brought the new state of the run before: the lists are older all the same.
  const before = [runs.get(id), told.get(id)];
  told.set(id, { status, pending_approvals });
  runs.put([run]);
  again(['run', id]);
  if (before.some((known) => known?.status !== status)) again(['runs']);
  if (pending_approvals > 0 || before.some((known) => known?.pending_approvals !== pending_approvals)) {
    again(['approvals']);
  }
}
