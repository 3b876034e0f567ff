import { setTimeout as delay } from 'node:timers/promises';
import * as engineApi from '@holdpoint/engine';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import type { Evals } from '../deps.ts';
import { type RepeatDeps, repeatsWith } from './repeat-run.ts';

interface Deps {
  redis: Redis;
  now: () => number;
  newId: (kind: 'run') => string;
  logger: Pick<FastifyBaseLogger, 'warn'>;
  /** Opens a connection for the worker of the queue. */
  connect: () => Redis;
  /** Between two looks for evaluations whose wake-up was lost. */
  sweepMs: number;
}

export interface EvalService extends Evals {
  /** Begins to repeat runs. */
  start(deps: RepeatDeps): void;
  stop(): Promise<void>;
}

const sweepLimit = 200;
const closeMs = 3000;

/**
 * The evaluations of all tenants. Every API process takes wake-ups, and the stored state decides: a repeat is taken, and the id of its fork
 * chosen, in one write, so two processes never make two runs of it. The queue opens with the first evaluation.
 */
export function openEvals(deps: Deps): EvalService {
  const store = engineApi.openEvalStore(deps.redis);
  const ending = new AbortController();
  let repeating: RepeatDeps | undefined;
  let queue: engineApi.EvalQueue | undefined;
  let sweeping: Promise<void> | undefined;
  const opened = (): engineApi.EvalQueue => {
    queue ??= engineApi.openEvalQueue({
      ...{ redis: deps.redis, connection: deps.connect(), now: deps.now },
      async handle(job) {
        if (repeating === undefined) return;
        const around = { store, now: deps.now, newRunId: () => deps.newId('run'), wake };
        await engineApi.lookAtEval({ ...around, ...repeatsWith(repeating) }, job);
      },
      onFailure: (job, error) => deps.logger.warn({ err: error, ...job }, 'an evaluation is looked at again'),
    });
    return queue;
  };
  const wake = async (job: engineApi.EvalJob, at = deps.now()): Promise<void> => {
    if (!ending.signal.aborted) await opened().wake(job, at);
  };
  return {
    store,
    wake,
    start(given) {
      repeating = given;
      sweeping ??= sweep({ ...deps, store, wake }, ending.signal);
    },
    async stop() {
      ending.abort();
      await sweeping;
      // Without Redis the worker does not end. Another process takes its jobs.
      await Promise.race([queue?.close(), delay(closeMs)]);
    },
  };
}

async function sweep(
  { store, wake, now, logger, sweepMs }: Deps & { store: engineApi.EvalStore; wake: Evals['wake'] },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      // A look that is only a little late has its job.
      for (const job of await store.due(now() - sweepMs, sweepLimit)) await wake(job);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'evaluations could not be read; they are read again');
    }
    await delay(sweepMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
