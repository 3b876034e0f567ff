import { setTimeout as delay } from 'node:timers/promises';
import * as engineApi from '@holdpoint/engine';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import type { Schedules } from '../deps.ts';
import { readEnd, type SubmitDeps, submitOccurrence } from './submit-occurrence.ts';

interface Deps {
  redis: Redis;
  now: () => number;
  newId: (kind: 'run') => string;
  logger: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  /** Opens a connection for the worker of the queue. */
  connect: () => Redis;
  /** Between two looks for schedules whose wake-up was lost. */
  sweepMs: number;
}

export interface ScheduleService extends Schedules {
  /** Begins to submit runs. */
  start(deps: SubmitDeps): void;
  stop(): Promise<void>;
}

const sweepLimit = 200;
const closeMs = 3000;

/**
 * The schedules of all tenants. Every API process takes wake-ups, and the stored state decides: an occurrence is taken, and the id of its run
 * chosen, in one write, so two processes never make two runs of it. The queue opens with the first schedule.
 */
export function openSchedules(deps: Deps): ScheduleService {
  const store = engineApi.openScheduleStore(deps.redis);
  const ending = new AbortController();
  let submitting: SubmitDeps | undefined;
  let queue: engineApi.ScheduleQueue | undefined;
  let sweeping: Promise<void> | undefined;
  const lookDeps = (submitter: SubmitDeps) => ({
    ...{ store, now: deps.now, newRunId: () => deps.newId('run') },
    wake,
    submit: (state: engineApi.Submitting) => submitOccurrence(submitter, state),
    endOf: ({ tenant }: engineApi.ScheduleState, runId: string) => readEnd(submitter, tenant, runId),
    cancel: (state: engineApi.ScheduleState, runId: string) => cancel(submitter, state, runId),
  });
  const opened = (): engineApi.ScheduleQueue => {
    queue ??= engineApi.openScheduleQueue({
      ...{ redis: deps.redis, connection: deps.connect(), now: deps.now },
      async handle(job) {
        if (submitting !== undefined) await engineApi.lookAtSchedule(lookDeps(submitting), job);
      },
      onFailure: (job, error) => deps.logger.warn({ err: error, ...job }, 'a schedule is looked at again'),
    });
    return queue;
  };
  const wake = async (job: engineApi.ScheduleJob, at = deps.now()): Promise<void> => {
    if (!ending.signal.aborted) await opened().wake(job, at);
  };
  const wakeOverdue = async (job: engineApi.ScheduleJob): Promise<void> => {
    if (!ending.signal.aborted) await opened().wakeOverdue(job);
  };
  return {
    store,
    wake,
    start(given) {
      submitting = given;
      sweeping ??= sweep({ ...deps, store, wakeOverdue }, ending.signal);
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
  {
    store,
    wakeOverdue,
    now,
    logger,
    sweepMs,
  }: Deps & { store: engineApi.ScheduleStore; wakeOverdue: engineApi.ScheduleQueue['wakeOverdue'] },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const job of await store.due(now(), sweepLimit)) await wakeOverdue(job);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'schedules could not be read; they are read again');
    }
    await delay(sweepMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** The next look asks again, until the run has ended. */
async function cancel(deps: SubmitDeps, { tenant, name }: engineApi.ScheduleState, runId: string): Promise<void> {
  const engine = deps.openEngine.as({ name: `schedule ${name}`, kind: 'service', tenant });
  await engine.runs.cancel(runId, {}).catch((error: unknown) => {
    deps.logger.warn({ err: error, run_id: runId }, 'a run of a schedule could not be canceled; it is tried again');
  });
}
