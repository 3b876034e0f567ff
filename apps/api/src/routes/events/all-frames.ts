import { runChanged } from '@holdpoint/contract/wire';
import { notificationPattern } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';
import { toRun } from '../runs/run-view.ts';

/**
 * Each run that changes, in its state at the time of the frame. A slow reader gets fewer frames and no outdated ones: the server keeps
 * only the ids of the runs that changed.
 */
export async function* allFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'heartbeatMs'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const subscription = await deps.notifications.subscribeToAll(notificationPattern);
  try {
    yield opening;
    while (!signal.aborted) {
      const changed = await subscription.next({ timeoutMs: deps.heartbeatMs, signal });
      if (changed.size === 0 && !signal.aborted) yield heartbeat;
      for (const id of changed) {
        const run = await deps.engine.runs.find(id);
        if (run !== undefined) yield frame({ event: runChanged, data: toRun(run) });
      }
    }
  } finally {
    subscription.close();
  }
}
