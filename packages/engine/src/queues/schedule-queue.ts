import type { Redis } from 'ioredis';
import { backoffOf, capDelay } from './queues.ts';
import { openSideQueue } from './side-queue.ts';

/** A wake-up: the state of the schedule decides what is due. */
export interface ScheduleJob {
  tenant: string;
  name: string;
}

export interface ScheduleQueue {
  /** @param at milliseconds since the epoch. The same wake-up is never queued twice */
  wake(job: ScheduleJob, at: number): Promise<void>;
  /** For the sweep: a schedule whose submission keeps failing has one such wake-up, however often the sweep finds it overdue. */
  wakeOverdue(job: ScheduleJob): Promise<void>;
  close(): Promise<void>;
}

const name = 'schedules';
/** With waits of up to half a minute. The sweep of the schedules comes back later than that. */
const attempts = 8;
const slots = 4;

/**
 * Opens the queue that wakes schedules, and its worker in this process.
 * @param options.connection for the worker: waits for Redis without a limit
 */
export function openScheduleQueue(options: {
  redis: Redis;
  connection: Redis;
  now: () => number;
  handle: (job: ScheduleJob) => Promise<void>;
  /** Called when a job fails. It is tried again while attempts are left. */
  onFailure: (job: ScheduleJob | undefined, error: Error) => void;
}): ScheduleQueue {
  const { queue, close } = openSideQueue<ScheduleJob>({
    ...{ ...options, name, slots, attempts },
    backoffOf: (made, error) => backoffOf(made, error, Math.random),
  });
  return {
    async wake(job, at) {
      const delay = capDelay(at - options.now());
      await queue.add('schedule', job, { jobId: `${job.tenant}/${job.name}@${at}`, ...(delay > 0 && { delay }) });
    },
    async wakeOverdue(job) {
      await queue.add('schedule', job, { jobId: `${job.tenant}/${job.name}@overdue` });
    },
    close,
  };
}
