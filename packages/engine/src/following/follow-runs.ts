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
  /** Between two batches while runs change. @default 500 */
  everyMs?: number | undefined;
  /** Between two looks at all active runs, in case a notification was lost. @default 5 minutes */
  lookMs?: number | undefined;
  /** After which a silent holder is dead. Two holders at once do no harm. @default 4 s */
  lostMs?: number | undefined;
}

/** What one process of many does with the events of all runs. */
export interface Follower {
  /** Ids of runs with events that are not handled. @param which `active`: only of those that have not ended */
  unhandled(which: 'all' | 'active'): AsyncIterable<string>;
  /** Handles the new events of these runs. When it throws, the follower is opened again. */
  handle(runIds: Iterable<string>, signal: AbortSignal): Promise<void>;
}

interface Options extends FollowPace {
  /** Names the lock. */
  name: string;
  /** Channels beside those of the runs: a message on one of them starts a batch, too. */
  channels?: readonly string[];
  /** Milliseconds that the last batch has when the process ends. @default unlimited */
  endMs?: number;
  open(): Promise<Follower>;
  /** Reports an error of the work, which then begins again. */
  onError(error: unknown): void;
}

export interface Following {
  /** Whether this process is the one. */
  isHolder(): boolean;
  stop(): Promise<void>;
}

/** How often a process that is not the holder looks whether there is one. */
const tryMs = 1000;

/**
 * Follows the events of all runs, in one process of many. It learns of new events from the notification that each append sends anyway, so
 * the append has no further command. Its first look is at all runs: events from before it listened are found, too.
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
    // What was appended while the process ended. The next holder would find it, too.
    const last = options.endMs === undefined ? new AbortController().signal : AbortSignal.timeout(options.endMs);
    if (ending.aborted && !changes.isStale()) await follower.handle(changes.take(), last);
  } finally {
    await changes.stop();
  }
}

/** Ends early when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);
