import { runChanged } from '@holdpoint/contract/wire';
import { notificationPattern } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';
import { toRun } from '../runs/run-view.ts';

/**
 * Each run of the tenant that changes, in its state at the time of the frame. A slow reader gets fewer frames and no outdated ones: the server keeps
 * only the ids of the runs that changed.
 */
export async function* allFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'heartbeatMs' | 'now'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const subscription = await deps.notifications.subscribeToAll(notificationPattern);
  try {
    yield opening;
    let quietUntil = deps.now() + deps.heartbeatMs;
    while (!signal.aborted) {
      const changed = await subscription.next({ timeoutMs: Math.max(quietUntil - deps.now(), 0), signal });
      for (const id of changed) {
        const run = await deps.engine.runs.find(id);
        if (run === undefined) continue;
        yield frame({ event: runChanged, data: toRun(run) });
        quietUntil = deps.now() + deps.heartbeatMs;
      }
      // Runs of other tenants change nothing here, the heartbeat included.
      if (deps.now() < quietUntil || signal.aborted) continue;
      yield heartbeat;
      quietUntil = deps.now() + deps.heartbeatMs;
    }
  } finally {
    subscription.close();
  }
}
