import { type Job, RedisConnection, RedisQueueBackend, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';

type Next = Awaited<ReturnType<Job['moveToCompleted']>>;

/**
 * Ends jobs while their handlers wait for their last append. The commands go out on the connection of the appends, so they take effect in the
 * order in which they are sent, and one fsync covers them. BullMQ's worker gets the job that was fetched when it ends the job itself.
 */
export class EarlyFinish {
  readonly #redis: Redis;
  readonly #worker: () => Worker;
  readonly #ends = new WeakMap<Job, Promise<{ next: Next } | undefined>>();
  #backend: RedisQueueBackend | undefined;

  /** @param redis the connection of the appends */
  constructor(redis: Redis, worker: () => Worker) {
    this.#redis = redis;
    this.#worker = worker;
  }

  start(job: Job, token: string | undefined): void {
    if (this.#ends.has(job)) return;
    const complete = job.moveToCompleted;
    const end = this.#end(job, token, complete);
    this.#ends.set(job, end);
    // When the early end failed, the worker's own command decides what the job is.
    job.moveToCompleted = async (...args) => {
      const early = await end;
      return early === undefined ? complete.apply(job, args) : early.next;
    };
  }

  hasBegun(job: Job): boolean {
    return this.#ends.has(job);
  }

  /** Whether the job was ended early, so that it is gone. */
  async isOver(job: Job): Promise<boolean> {
    return (await this.#ends.get(job)) !== undefined;
  }

  async #end(
    job: Job,
    token: string | undefined,
    complete: Job['moveToCompleted'],
  ): Promise<{ next: Next } | undefined> {
    // Runs after all that was begun before, so the commands of the handler are sent by then: BullMQ's own follow some promises later.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const worker = this.#worker();
    const fetchNext = !worker.closing && !worker.isPaused();
    const twin: Job = Object.create(job, { backend: { value: this.#openBackend() } });
    try {
      const next = await complete.call(twin, undefined, token ?? '', fetchNext);
      job.finishedOn = twin.finishedOn;
      return { next };
    } catch {
      return undefined;
    }
  }

  /** The backend of the worker, on the other connection. */
  #openBackend(): RedisQueueBackend {
    if (this.#backend !== undefined) return this.#backend;
    const { name, keys, toKey, opts } = this.#worker();
    const connection = new RedisConnection(this.#redis, { shared: true, blocking: false, skipVersionCheck: true });
    // The connection logs its errors itself. An 'error' event without a listener would end the process.
    connection.on('error', () => undefined);
    this.#backend = new RedisQueueBackend(connection, name, keys, toKey, opts, undefined, false);
    return this.#backend;
  }
}
