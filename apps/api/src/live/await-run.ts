import { type Engine, notificationChannel, type RunState } from '@holdpoint/engine';
import type { FastifyReply } from 'fastify';
import type { RunNotifications } from './run-notifications.ts';
import { clientGone } from './stream.ts';

interface WaitDeps {
  engine: Pick<Engine, 'runs'>;
  notifications: RunNotifications;
  now: () => number;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  publicationWaitMs: number;
  heartbeatMs: number;
}

interface Wait {
  runId: string;
  /** Requests an action of a worker. The subscription begins before the request. */
  ask: () => Promise<void>;
  /** True while the worker's action is open. */
  isPending: (run: RunState) => boolean | Promise<boolean>;
}

/** Requests an action, and waits until a worker has finished, the time is over, or the client is gone. */
export async function awaitRun(
  deps: WaitDeps,
  reply: FastifyReply,
  { runId, ask, isPending }: Wait,
): Promise<RunState> {
  const signal = AbortSignal.any([clientGone(reply), deps.closing]);
  const until = deps.now() + deps.publicationWaitMs;
  const subscription = await deps.notifications.subscribe(notificationChannel(runId));
  try {
    await ask();
    for (;;) {
      const run = await deps.engine.runs.get(runId);
      const timeoutMs = until - deps.now();
      if (!(await isPending(run)) || timeoutMs <= 0 || signal.aborted) return run;
      // A notification may be lost: the loop reads the run once per heartbeat, as a quiet stream does.
      await subscription.next({ timeoutMs: Math.min(timeoutMs, deps.heartbeatMs), signal });
    }
  } finally {
    subscription.close();
  }
}
