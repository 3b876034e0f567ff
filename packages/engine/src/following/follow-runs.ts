import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { lockKey, notificationPattern, runOfKey } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';
import { openRedisLock } from '../redis/redis-lock.ts';

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

export interface FollowDeps {
  redis: Redis;
  /** For pub/sub. */
  subscriber: Redis;
  logger: Logger;
}

/** Milliseconds. */
export interface FollowPace {
  /** Pause between two batches while runs change. @default 500 */
  everyMs?: number | undefined;
  /** Pause between two scans of all active runs, in case a notification was lost. @default 5 minutes */
  lookMs?: number | undefined;
  /** After this time a silent holder is presumed dead. Two holders at once do no harm. @default 4 s */
  lostMs?: number | undefined;
}

/** Handles the events of all runs, in one process of many. */
export interface Follower {
  /** Ids of runs with events that are not handled. `active`: only of runs that have not ended. */
  unhandled(which: 'all' | 'active'): AsyncIterable<string>;
  /** Handles the new events of these runs. After an error the follower is opened again. */
  handle(runIds: Iterable<string>, signal: AbortSignal): Promise<void>;
}

interface Options extends FollowPace {
  /** Names the lock. */
  name: string;
  /** Channels in addition to the runs' channels: a message on these also starts a batch. */
  channels?: readonly string[];
  /** Milliseconds for the last batch when the process ends. @default unlimited */
  endMs?: number;
  open(): Promise<Follower>;
  /** Reports an error of the work. The work then begins again. */
  onError(error: unknown): void;
}

export interface Following {
  /** Whether this process is the holder. */
  isHolder(): boolean;
  stop(): Promise<void>;
}

/** How often a process without the lock tries to become the holder. */
const tryMs = 1000;

/**
 * Follows the events of all runs, in one process of many. Each append already sends a notification, so following adds no command to an
 * append.
 * The first scan covers all runs, to find events from before the start.
 */
export function followRuns(deps: FollowDeps, options: Options): Following {
  const { lostMs = 4000 } = options;
  const lock = openRedisLock(deps.redis, { key: lockKey(options.name), lostMs });
  const ending = new AbortController();
  let isHolder = false;
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await lock.tryRun((lost) => {
          isHolder = true;
          return work(deps, options, AbortSignal.any([lost, ending.signal]), ending.signal);
        });
      } catch (error) {
        options.onError(error);
      }
      isHolder = false;
      await pause(tryMs, ending.signal);
    }
  };
  const done = run();
  return {
    isHolder: () => isHolder,
    async stop() {
      ending.abort();
      await done;
    },
  };
}

async function work(deps: FollowDeps, options: Options, signal: AbortSignal, ending: AbortSignal): Promise<void> {
  const { everyMs = 500, lookMs = 300_000, channels = [] } = options;
  const changes = listen(deps, channels);
  try {
    await changes.start();
    const follower = await options.open();
    const look = async (which: 'all' | 'active'): Promise<void> => {
      for await (const runId of follower.unhandled(which)) changes.add(runId);
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
      await follower.handle(changes.take(), signal);
    }
    // The last batch: events appended while the process ended. Otherwise the next holder would find them.
    const last = options.endMs === undefined ? new AbortController().signal : AbortSignal.timeout(options.endMs);
    if (ending.aborted && !changes.isStale()) await follower.handle(changes.take(), last);
  } finally {
    await changes.stop();
  }
}

/** Ends early when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);
