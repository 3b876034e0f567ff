import { setTimeout as wait } from 'node:timers/promises';
import { isRefusal, probeWrite, redisTrouble } from '@holdpoint/engine/redis';
import type { WorkerDeps } from '@holdpoint/engine/worker';

const firstPauseMs = 250;
const longestPauseMs = 5000;
/** After so long without a refusal the next pause is short again. */
const calmMs = 30_000;

interface Backoff {
  deps: Pick<WorkerDeps, 'redis' | 'logger' | 'now'>;
  hold(): void;
  release(): void;
  signal: AbortSignal;
}

/**
 * BullMQ asks for the next job at once after any error except a lost connection. When Redis refuses every write, BullMQ would ask thousands
 * of times a second. So the worker takes no jobs until a write succeeds, and tries a write at growing intervals.
 *
 * @returns a function to call with each error of a queue's worker
 */
export function backOffFromRefusals({ deps, hold, release, signal }: Backoff): (error: Error) => void {
  let pauseMs = firstPauseMs;
  let last = Number.NEGATIVE_INFINITY;
  let waiting = false;

  const untilWritable = async (): Promise<void> => {
    hold();
    if (performance.now() - last > calmMs) pauseMs = firstPauseMs;
    for (;;) {
      await wait(pauseMs, undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      const error: unknown = await probeWrite(deps.redis, deps.now()).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (error === undefined) break;
      const { next } = redisTrouble(error) ?? {};
      deps.logger.warn({ err: error, next }, 'no jobs are taken: Redis refuses writes');
    }
    last = performance.now();
    release();
    deps.logger.info({}, 'Redis takes writes; jobs are taken again');
  };

  return (error) => {
    if (waiting || signal.aborted || !(isRefusal(error) || error.name === 'ReplyError')) return;
    waiting = true;
    untilWritable()
      .catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
      })
      .finally(() => {
        waiting = false;
      });
  };
}
