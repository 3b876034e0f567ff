import type { Redis } from 'ioredis';
import { backoffOf, capDelay } from './queues.ts';
import { openSideQueue } from './side-queue.ts';

/** A wake-up: the stored state of the receiver decides what is sent. */
interface DeliveryJob {
  id: string;
}

export interface DeliveryQueue {
  /** @param at milliseconds since the epoch. Wake-ups of a receiver within a quarter of a second are one job */
  wake(id: string, at: number): Promise<void>;
  close(): Promise<void>;
}

const name = 'deliveries';
/** The sweep comes back later than the waits between them. */
const attempts = 8;
/** A receiver that does not answer holds one of them for a time-out. */
const slots = 32;
const togetherMs = 250;

/**
 * Opens the queue that wakes receivers, and its worker in this process.
 * @param options.connection for the worker: waits for Redis without a limit
 */
export function openDeliveryQueue(options: {
  redis: Redis;
  connection: Redis;
  now: () => number;
  handle: (id: string) => Promise<void>;
  /** Called when a job fails. It is tried again while attempts are left. */
  onFailure: (id: string | undefined, error: Error) => void;
}): DeliveryQueue {
  const { queue, close } = openSideQueue<DeliveryJob>({
    ...{ redis: options.redis, connection: options.connection, name, slots, attempts },
    handle: ({ id }) => options.handle(id),
    onFailure: (job, error) => options.onFailure(job?.id, error),
    backoffOf: (made, error) => backoffOf(made, error, Math.random),
  });
  return {
    async wake(id, at) {
      // The job runs after its quarter of a second, so it finds everything that was marked within it.
      const time = Math.ceil((at + 1) / togetherMs) * togetherMs;
      const delay = capDelay(time - options.now());
      await queue.add('deliver', { id }, { jobId: `${id}@${time}`, ...(delay > 0 && { delay }) });
    },
    close,
  };
}
