import type { Run } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { runs } from '../api/entities.ts';
import { goLive, listen, type News } from './live.ts';
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
  return null;
}

function take({ frames, gap }: News, again: (key: readonly string[]) => void): void {
  if (gap) again([]);
  for (const { event, data } of frames) {
    if (event === 'run.changed') takeRun(JSON.parse(data) as Run, again);
    else if (event === 'approval.changed') again(['approvals']);
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
