import { Readable } from 'node:stream';
import { type Callers, changedChannel, type Holder, type OpenStream } from '@holdpoint/callers';
import { type Engine, notificationChannel, type RunState } from '@holdpoint/engine';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { RunNotifications } from './run-notifications.ts';

interface StreamDeps {
  /** Aborted when the server closes. */
  closing: AbortSignal;
  callers: Pick<Callers, 'openStream'>;
  holder: Holder;
  notifications: RunNotifications;
  logger: Pick<FastifyBaseLogger, 'warn'>;
  now: () => number;
}

/**
 * Sends server-sent events until the frames end, the client goes away, its key is revoked or expires, or the server closes. The stream pulls
 * frames as fast as the client reads them, so a slow client costs a buffer of 64 KiB.
 * @throws CallerError `too_many_streams`
 */
export async function sendStream(
  deps: StreamDeps,
  reply: FastifyReply,
  frames: (signal: AbortSignal) => AsyncGenerator<string>,
): Promise<FastifyReply> {
  if (reply.request.method === 'HEAD') return reply.headers(streamHeaders).send('');
  const gone = AbortSignal.any([clientGone(reply), deps.closing]);
  const counted = await deps.callers.openStream(deps.holder);
  const refused = new AbortController();
  void watchKey(deps, counted, gone)
    .catch((error: unknown) => deps.logger.warn({ err: error }, 'a stream ends, because its key cannot be watched'))
    .then(() => refused.abort());
  const stream = frames(AbortSignal.any([gone, refused.signal]));
  return reply.headers(streamHeaders).send(Readable.from(stream, { objectMode: false, highWaterMark: 64 * 1024 }));
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // nginx buffers small answers without this header.
  'x-accel-buffering': 'no',
  // Without keep-alive a closing server need not wait for the connection to become idle.
  connection: 'close',
};

/** Twice in the time after which a stream without a renewal stops counting. */
const renewMs = 25_000;

/** Resolves when the client is gone, or its key is not valid any more. A notification announces a change of the key. */
async function watchKey(
  { notifications, holder, logger, now }: Omit<StreamDeps, 'closing' | 'callers'>,
  counted: OpenStream,
  gone: AbortSignal,
): Promise<void> {
  const unknown = (error: unknown): boolean => {
    // Without Redis the stream has no events either. Both continue when Redis is back.
    logger.warn({ err: error, key_id: holder.keyId }, 'the key of a stream cannot be looked at');
    return true;
  };
  const changes = await notifications.subscribe(changedChannel(holder.keyId));
  // First: the key may have changed before the subscription.
  while (!gone.aborted && (await counted.renew().catch(unknown))) {
    await changes.next({ timeoutMs: Math.min(renewMs, untilExpiry(holder, now())), signal: gone });
  }
  changes.close();
  await counted.close().catch(unknown);
}

const untilExpiry = ({ expiresAt }: Holder, now: number): number =>
  expiresAt === null ? renewMs : Math.max(Date.parse(expiresAt) - now, 0) + 100;

/** Aborted when the connection of the request closes. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

/** A server-sent event. JSON text has no line breaks, so a single `data` line suffices. */
export function frame(event: { event: string; id?: number; data: unknown }): string {
  return `${idLine(event.id)}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** A comment to keep the connection open. @param id the id named by the client at its return */
export const heartbeat = (id?: number): string => `${idLine(id)}: still here\n\n`;
/** Sent immediately, as the client's sign of an open stream. A browser reconnects after a second. */
export const opening = (id?: number): string => `retry: 1000\n${idLine(id)}: open\n\n`;

const idLine = (id: number | undefined): string => (id === undefined ? '' : `id: ${id}\n`);

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
