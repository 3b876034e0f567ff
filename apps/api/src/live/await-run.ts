import { notificationChannel, type RunState } from '@holdpoint/engine';
import type { FastifyReply } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { findRun } from '../routes/runs/find-run.ts';
import { clientGone } from './stream.ts';

interface Wait {
  runId: string;
  /** Requests something that a worker does. The subscription begins before the request. */
  ask: () => Promise<void>;
  /** Whether a worker has yet to do it. */
  isPending: (run: RunState) => boolean;
}

/** Requests something, and waits until a worker has done it, the time is over, or the client is gone. */
export async function awaitRun(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'now' | 'closing' | 'publicationWaitMs' | 'heartbeatMs'>,
  reply: FastifyReply,
  { runId, ask, isPending }: Wait,
): Promise<RunState> {
  const signal = AbortSignal.any([clientGone(reply), deps.closing]);
  const until = deps.now() + deps.publicationWaitMs;
  const subscription = await deps.notifications.subscribe(notificationChannel(runId));
  try {
    await ask();
    for (;;) {
      const run = await findRun(deps, runId);
      const timeoutMs = until - deps.now();
      if (!isPending(run) || timeoutMs <= 0 || signal.aborted) return run;
      // As a quiet stream does, it looks once per heartbeat, in case a notification was lost.
      await subscription.next({ timeoutMs: Math.min(timeoutMs, deps.heartbeatMs), signal });
    }
  } finally {
    subscription.close();
  }
}
