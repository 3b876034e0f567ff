import { openBackend, queuePrefix, wakeWaiting } from '@holdpoint/engine/worker';
import { type IQueueBackend, Job, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';

type Next = Awaited<ReturnType<Job['moveToCompleted']>>;

interface Options {
  worker: () => Worker;
  /** Whether the worker may take another job for one that ends. */
  mayTakeNext: () => boolean;
  /** The handlers add jobs that wake no worker. */
  isSilent?: boolean | undefined;
}

/**
 * Ends jobs while their handlers wait for their last append. The commands go out on the connection of the appends, so they take effect in the
 * order in which they are sent, and one fsync covers them. BullMQ's worker gets the job that was fetched when it ends the job itself.
 */
export class EarlyFinish {
  readonly #redis: Redis;
  readonly #worker: () => Worker;
  readonly #mayTakeNext: () => boolean;
  readonly #ends = new WeakMap<Job, Promise<{ next: Next } | undefined>>();
  readonly #isSilent: boolean;
  #backend: IQueueBackend | undefined;

  /** @param redis the connection of the appends */
  constructor(redis: Redis, { worker, mayTakeNext, isSilent = false }: Options) {
    this.#redis = redis;
    this.#worker = worker;
    this.#mayTakeNext = mayTakeNext;
    this.#isSilent = isSilent;
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

  /** Whether `start` now would take the next job. */
  takesNext(job: Job): boolean {
    return this.#isSilent && !this.#ends.has(job) && this.#fetchesNext();
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
    const fetchNext = this.#fetchesNext();
    // A copy: V8 makes an object slow that becomes the prototype of another one.
    const twin: Job = Object.assign(Object.create(Job.prototype), job, { backend: this.#openBackend() });
    try {
      const next = await complete.call(twin, undefined, token ?? '', fetchNext);
      job.finishedOn = twin.finishedOn;
      if (!fetchNext) await this.#wakeOther();
      return { next };
    } catch {
      await this.#wakeOther();
      return undefined;
    }
  }

  #fetchesNext(): boolean {
    const worker = this.#worker();
    return !worker.closing && !worker.isPaused() && this.#mayTakeNext();
  }

  /** The job that the handler added waits, and no worker knows of it. Without a connection, one finds it at its next look. */
  async #wakeOther(): Promise<void> {
    if (this.#isSilent) await wakeWaiting(this.#redis, this.#worker()).catch(() => undefined);
  }

  /** The backend of the worker, on the other connection. */
  #openBackend(): IQueueBackend {
    const { name, opts } = this.#worker();
    const silent = this.#isSilent ? 'ends' : undefined;
    this.#backend ??= openBackend(this.#redis, { prefix: queuePrefix, silent })(name, opts);
    return this.#backend;
  }
}
