import type { Redis } from 'ioredis';
import { backoffOf, capDelay } from './queues.ts';
import { openSideQueue } from './side-queue.ts';

/** A wake-up: the state of the evaluation decides what is to do. */
export interface EvalJob {
  tenant: string;
  id: string;
}

export interface EvalQueue {
  /** @param at milliseconds since the epoch. The same wake-up is never queued twice */
  wake(job: EvalJob, at: number): Promise<void>;
  close(): Promise<void>;
}

const name = 'evals';
/** With waits of up to half a minute. The sweep comes back later than that. */
const attempts = 8;
const slots = 2;

/**
 * Opens the queue that wakes evaluations, and its worker in this process.
 * @param options.connection for the worker: waits for Redis without a limit
 */
export function openEvalQueue(options: {
  redis: Redis;
  connection: Redis;
  now: () => number;
  handle: (job: EvalJob) => Promise<void>;
  /** Called when a job fails. It is tried again while attempts are left. */
  onFailure: (job: EvalJob | undefined, error: Error) => void;
}): EvalQueue {
  const { queue, close } = openSideQueue<EvalJob>({
    ...{ ...options, name, slots, attempts },
    backoffOf: (made, error) => backoffOf(made, error, Math.random),
  });
  return {
    async wake(job, at) {
      const delay = capDelay(at - options.now());
      await queue.add('eval', job, { jobId: `${job.tenant}/${job.id}@${at}`, ...(delay > 0 && { delay }) });
    },
    close,
  };
}
