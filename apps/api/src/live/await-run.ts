import { type Engine, notificationChannel, type RunState } from '@holdpoint/engine';
import type { FastifyReply } from 'fastify';
import type { RunNotifications } from './run-notifications.ts';
import { clientGone } from './stream.ts';

interface WaitDeps {
  notifications: RunNotifications;
  now: () => number;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  heartbeatMs: number;
}

interface Reading<Found> {
  runId: string;
  waitMs: number;
  /** Requests an action of a worker. The subscription begins before the request. */
  ask?: () => Promise<void>;
  read: () => Promise<Found>;
  /** True once the caller of the API waits no longer. */
  isOver: (found: Found) => boolean | Promise<boolean>;
  /** @default a heartbeat: a notification may be lost, so a quiet run is read once per heartbeat */
  pollMs?: number;
}

/** Reads at each event of a run, until the reading is over, the time is over, or the client is gone. */
export async function readUntil<Found>(
  deps: WaitDeps,
  reply: FastifyReply,
  { runId, waitMs, ask, read, isOver, pollMs = deps.heartbeatMs }: Reading<Found>,
): Promise<Found> {
  const signal = AbortSignal.any([clientGone(reply), deps.closing]);
  const until = deps.now() + waitMs;
  const subscription = await deps.notifications.subscribe(notificationChannel(runId));
  try {
    await ask?.();
    for (;;) {
      const found = await read();
      const timeoutMs = until - deps.now();
      if ((await isOver(found)) || timeoutMs <= 0 || signal.aborted) return found;
      await subscription.next({ timeoutMs: Math.min(timeoutMs, pollMs), signal });
    }
  } finally {
    subscription.close();
  }
}

/** Requests an action, and waits until a worker has finished, the time is over, or the client is gone. */
export const awaitRun = (
  deps: WaitDeps & { engine: Pick<Engine, 'runs'>; publicationWaitMs: number },
  reply: FastifyReply,
  {
    runId,
    ask,
    isPending,
  }: Pick<Reading<RunState>, 'runId'> & {
    ask: () => Promise<void>;
    /** True while the worker's action is open. */
    isPending: (run: RunState) => boolean | Promise<boolean>;
  },
): Promise<RunState> =>
  readUntil(deps, reply, {
    ...{ runId, ask, waitMs: deps.publicationWaitMs },
    read: () => deps.engine.runs.get(runId),
    isOver: async (run) => !(await isPending(run)),
  });
