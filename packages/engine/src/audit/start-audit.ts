import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { auditChannel, lockKey, notificationPattern, runOfChannel } from '../log/keys.ts';
import { openRedisLock } from '../redis/redis-lock.ts';
import { type AuditDeps, openAuditWriter } from './audit-writer.ts';
import { ChainMoved } from './open-chain.ts';

interface Options extends Omit<AuditDeps, 'redact'> {
  /** @default nothing is a secret */
  redact?: AuditDeps['redact'] | undefined;
  /** For pub/sub. */
  subscriber: Redis;
  /** Milliseconds between two batches while runs change. @default 500 */
  everyMs?: number;
  /** Milliseconds between two looks at all active runs, in case a notification was lost. @default 5 minutes */
  lookMs?: number;
  /** Milliseconds after which a silent writer is dead. Two writers at once do no harm. @default 4 s */
  lostMs?: number;
}

/** How often a process that is not the writer looks whether there is one. */
const tryMs = 1000;

/**
 * Seals the events of all runs, in one process of many. It learns of new events from the notification that each append sends anyway, so
 * the append has no further command. Its first look is at all runs: events from before it listened are found, too.
 */
export function startAudit(options: Options): { stop(): Promise<void> } {
  const { redis, logger, lostMs = 4000 } = options;
  const lock = openRedisLock(redis, { key: lockKey('audit'), lostMs });
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await lock.tryRun((lost) => work(options, AbortSignal.any([lost, ending.signal]), ending.signal));
      } catch (error) {
        if (error instanceof ChainMoved) logger.debug({ err: error }, 'the audit log was opened again');
        else logger.warn({ err: error }, 'the audit log was not written; it is tried again');
      }
      await pause(tryMs, ending.signal);
    }
  };
  const done = run();
  return {
    async stop() {
      ending.abort();
      await done;
    },
  };
}

async function work(options: Options, signal: AbortSignal, ending: AbortSignal): Promise<void> {
  const { everyMs = 500, lookMs = 300_000 } = options;
  const changes = listen(options);
  try {
    await changes.start();
    const writer = await openAuditWriter({ ...options, redact: options.redact ?? ((text) => text) });
    const look = async (which: 'all' | 'active'): Promise<void> => {
      for await (const runId of writer.unsealed(which)) changes.add(runId);
    };
    await look('all');
    changes.wake();
    let lookAt = performance.now() + lookMs;
    while (!signal.aborted && !changes.isStale()) {
      await changes.next(Math.max(0, lookAt - performance.now()), signal);
      // New events of the same runs follow soon: one batch takes them all.
      await pause(everyMs, signal);
      if (signal.aborted) break;
      if (performance.now() >= lookAt) {
        await look('active');
        lookAt = performance.now() + lookMs;
      }
      await writer.seal(changes.take(), signal);
    }
    // What was appended while the process ended. The next writer would find it, too.
    if (ending.aborted && !changes.isStale()) await writer.seal(changes.take(), new AbortController().signal);
  } finally {
    await changes.stop();
  }
}

/** Which runs changed, since the last look. */
function listen({ redis, subscriber }: Options) {
  let runs = new Set<string>();
  let isStale = false;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const onMessage = (_pattern: string, channel: string): void => {
    if (channel !== auditChannel) runs.add(runOfChannel(channel));
    wake();
  };
  // Redis may be an earlier copy of itself then, and messages may be lost: everything that is known is read again.
  const onReconnect = (): void => {
    isStale = true;
    wake();
  };
  subscriber.on('pmessage', onMessage);
  subscriber.on('ready', onReconnect);
  redis.on('close', onReconnect);
  return {
    start: () => subscriber.psubscribe(notificationPattern, auditChannel),
    wake,
    add: (runId: string) => runs.add(runId),
    isStale: () => isStale,
    take(): Set<string> {
      const taken = runs;
      runs = new Set();
      woken = Promise.withResolvers();
      return taken;
    },
    async next(timeoutMs: number, signal: AbortSignal): Promise<void> {
      const over = new AbortController();
      await Promise.race([woken.promise, pause(timeoutMs, AbortSignal.any([signal, over.signal]))]);
      over.abort();
    },
    async stop(): Promise<void> {
      subscriber.off('pmessage', onMessage);
      subscriber.off('ready', onReconnect);
      redis.off('close', onReconnect);
      await subscriber.punsubscribe(notificationPattern, auditChannel).catch(() => undefined);
    },
  };
}

/** Ends early when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);
