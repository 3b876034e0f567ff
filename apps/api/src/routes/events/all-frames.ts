import { runChanged } from '@holdpoint/contract/wire';
import { newsPattern } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';
import { toRun } from '../runs/run-view.ts';

/**
 * Every run that changes, as it is by then. A client that reads slowly gets fewer frames and never an old one: what is kept for it is
 * the set of runs that changed.
 */
export async function* allFrames(
  deps: Pick<ApiDeps, 'engine' | 'news' | 'heartbeatMs'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const ear = await deps.news.listenToAll(newsPattern);
  try {
    yield opening;
    while (!signal.aborted) {
      const heard = await ear.next({ timeoutMs: deps.heartbeatMs, signal });
      if (heard.size === 0 && !signal.aborted) yield heartbeat;
      for (const id of heard) {
        const run = await deps.engine.runs.find(id);
        if (run !== undefined) yield frame({ event: runChanged, data: toRun(run) });
      }
    }
  } finally {
    ear.close();
  }
}
