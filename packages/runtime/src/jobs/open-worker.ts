import type { AbortReason, WorkerDeps } from '@holdpoint/engine/worker';
import { type Job, Worker, type WorkerOptions } from 'bullmq';
import type { InJob } from '../traces/open-worker-traces.ts';
import { EarlyFinish } from './early-finish.ts';
import { type JobKind, processor } from './processor.ts';
import { SharedSlots } from './shared-slots.ts';
import { StuckHandlers } from './stuck-handlers.ts';

export interface QueueWorker<Data> {
  worker: Worker<Data>;
  /** Jobs this worker runs now. */
  running: Set<Job<Data>>;
  stuck: StuckHandlers;
  /** Aborts the call of a job's step; the job continues. */
  cancelCall(job: Job<Data>): void;
  /** Waits until every finished job has looked at its run once more. */
  looked(): Promise<unknown>;
}

interface Options<Data> extends WorkerOptions {
  isHeld?: (worker: Worker<Data>) => boolean;
  /** Puts the live spans of a job below the span of the step, task, publish or run the job works for. Undefined: no traces are exported. */
  inJob?: InJob | undefined;
  stuck?: StuckHandlers;
}

/**
 * Opens the worker of a queue. BullMQ ignores an add while a job with the same id exists, and removes a finished job only after the last
 * look of the handler at the run. So each finished job looks at its run once more after the removal.
 */
export function openWorker<Data extends { run_id: string }>(
  deps: WorkerDeps,
  queue: string,
  kind: JobKind<Data>,
  { isHeld, inJob, stuck = new StuckHandlers(), ...options }: Options<Data>,
): QueueWorker<Data> {
  const running = new Set<Job<Data>>();
  const seen = new WeakMap<Job<Data>, number>();
  const calls = new WeakMap<Job<Data>, AbortController>();
  const looks = new Set<Promise<void>>();
  const held = () => isHeld?.(worker) ?? false;
  const { concurrency = 1 } = options;
  const slots = new SharedSlots({ deps, worker: () => worker, slots: concurrency, running, isHeld: held });
  const mayTakeNext = () => slots.mayTakeNext();
  const finishing = new EarlyFinish(deps.redis, { worker: () => worker, mayTakeNext, isSilent: kind.takesNextStep });
  const handle = processor(deps, kind, { running, seen, calls, inJob, isHeld: held, finishing, stuck, slots });
  const worker: Worker<Data> = new Worker<Data>(queue, handle, options, finishing.openWorkerBackend);
  slots.start();
  worker.on('completed', (job) => {
    const at = seen.get(job);
    if (at === undefined) return;
    const looking = kind
      .wakeMissed(deps, job.data, at)
      .catch((error: unknown) => {
        const fields = { run_id: job.data.run_id, job: job.id, err: error };
        deps.logger.warn(fields, 'a job could not look again; the sweeper sends what it missed');
      })
      .finally(() => looks.delete(looking));
    looks.add(looking);
  });
  const cancelCall = (job: Job<Data>) => calls.get(job)?.abort('canceled' satisfies AbortReason);
  return { worker, running, stuck, cancelCall, looked: () => Promise.all(looks) };
}
