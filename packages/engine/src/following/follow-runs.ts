import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { lockKey } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';
import { openRedisLock } from '../redis/redis-lock.ts';
import { listen } from './listen.ts';

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
