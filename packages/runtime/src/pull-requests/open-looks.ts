import { setTimeout as delay } from 'node:timers/promises';
import { openPullLooks, openPullQueue, openPullStore, type WorkerDeps } from '@holdpoint/engine/worker';
import type { Redis } from 'ioredis';

interface Options {
  redis: Redis;
  now: () => number;
  logger: WorkerDeps['logger'];
  /** Opens a connection for the worker of the queue. */
  connect: () => Redis;
  /** Between two looks for pull requests whose wake-up was lost. */
  sweepMs: number;
}

const sweepLimit = 200;
const lostMs = 30_000;
const closeMs = 3000;

/**
 * The looks of this process at pull requests. Every worker takes wake-ups, and the stored record decides what is due. The queue opens with
 * the first pull request.
 */
export function openLooks(options: Options) {
  const { redis, now, logger } = options;
  const store = openPullStore(redis);
  const ending = new AbortController();
  let looks: ReturnType<typeof openPullLooks> | undefined;
  let queue: ReturnType<typeof openPullQueue> | undefined;
  let sweeping: Promise<void> | undefined;
  const opened = () => {
    queue ??= openPullQueue({
      ...{ redis, connection: options.connect(), now },
      handle: async (runId) => looks?.(runId, ending.signal),
      onFailure: (run_id, error) => logger.warn({ run_id, err: error }, 'a pull request is looked at again'),
    });
    return queue;
  };
  const wake = async (runId: string, at: number): Promise<void> => {
    if (!ending.signal.aborted) await opened().wake(runId, at);
  };
  const sweep = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        for (const runId of await store.due(now(), sweepLimit)) await wake(runId, now());
      } catch (error) {
        if (!ending.signal.aborted) logger.warn({ err: error }, 'pull requests could not be read; they are read again');
      }
      await delay(options.sweepMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    }
  };
  return {
    wake,
    start(deps: WorkerDeps): void {
      if (deps.pullRequests === undefined) return;
      looks = openPullLooks({ engine: deps, port: deps.pullRequests, store, wake, lostMs });
      sweeping ??= sweep();
    },
    async stop(): Promise<void> {
      ending.abort();
      // Without Redis neither ends. Another process takes the jobs.
      await Promise.race([Promise.all([sweeping, queue?.close()]), delay(closeMs)]);
    },
  };
}
