import type { Run } from '@holdpoint/contract/wire';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { runs } from '../api/entities.ts';
import { goLive, listen, type News } from './live.ts';
import { allTopic } from './messages.ts';

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

function takeRun(run: Run, again: (key: readonly string[]) => void): void {
  const known = runs.get(run.id);
  runs.put([run]);
  again(['run', run.id]);
  if (known === undefined || known.status !== run.status) again(['runs']);
  if (known?.pending_approvals !== run.pending_approvals || run.pending_approvals > 0) again(['approvals']);
}

/** Reads active queries of a key again, at most twice a second for each key: a hundred events are one request. */
function createRereader(queries: QueryClient): (key: readonly string[]) => void {
  const due = new Map<string, ReturnType<typeof setTimeout>>();
  return (key) => {
    const name = key.join(' ');
    if (due.has(name)) return;
    const reread = (): void => {
      due.delete(name);
      void queries.invalidateQueries({ queryKey: key.length === 0 ? undefined : [...key] }, { cancelRefetch: false });
    };
    due.set(name, setTimeout(reread, 500));
  };
}
