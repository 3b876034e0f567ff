import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { notificationPattern, runOfKey } from '../log/keys.ts';

/** Collects the runs that changed since the last `take`. */
export interface Changes {
  start(): Promise<void>;
  wake(): void;
  add(runId: string): void;
  /** A connection was lost: messages may be missing, and Redis may have been restored from an older copy. */
  isStale(): boolean;
  take(): Set<string>;
  /** Resolves at the first change, after the time, or when the signal is aborted. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

interface Connections {
  redis: Redis;
  subscriber: Redis;
}

/** @param channels additional channels: a message on these wakes the follower, and names no run */
export function listen({ redis, subscriber }: Connections, channels: readonly string[]): Changes {
  const patterns = [notificationPattern, ...channels];
  let runs = new Set<string>();
  let isStale = false;
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  const onMessage = (pattern: string, channel: string): void => {
    if (pattern === notificationPattern) runs.add(runOfKey(channel));
    if (patterns.includes(pattern)) wake();
  };
  const onReconnect = (): void => {
    isStale = true;
    wake();
  };
  subscriber.on('pmessage', onMessage);
  subscriber.on('ready', onReconnect);
  redis.on('close', onReconnect);
  return {
    start: () => subscribe(subscriber, patterns),
    wake,
    add: (runId) => runs.add(runId),
    isStale: () => isStale,
    take() {
      const taken = runs;
      runs = new Set();
      woken = Promise.withResolvers();
      return taken;
    },
    async next(timeoutMs, signal) {
      const over = new AbortController();
      const waited = delay(timeoutMs, undefined, { signal: AbortSignal.any([signal, over.signal]) });
      await Promise.race([woken.promise, waited.catch(() => undefined)]);
      over.abort();
    },
    async stop() {
      subscriber.off('pmessage', onMessage);
      subscriber.off('ready', onReconnect);
      redis.off('close', onReconnect);
      await unsubscribe(subscriber, patterns);
    },
  };
}

/** The number of followers of this process per pattern: the followers share the connection. */
const listeners = new WeakMap<Redis, Map<string, number>>();

async function subscribe(subscriber: Redis, patterns: readonly string[]): Promise<void> {
  const counts = listeners.get(subscriber) ?? new Map<string, number>();
  listeners.set(subscriber, counts);
  for (const pattern of patterns) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  await subscriber.psubscribe(...patterns);
}

async function unsubscribe(subscriber: Redis, patterns: readonly string[]): Promise<void> {
  const counts = listeners.get(subscriber);
  if (counts === undefined) return;
  for (const pattern of patterns) counts.set(pattern, (counts.get(pattern) ?? 0) - 1);
  const unused = patterns.filter((pattern) => counts.get(pattern) === 0);
  if (unused.length > 0) await subscriber.punsubscribe(...unused).catch(() => undefined);
}
