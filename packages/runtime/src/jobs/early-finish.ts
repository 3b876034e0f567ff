import { openBackend, queuePrefix, wakeWaiting } from '@holdpoint/engine/worker';
import { type IQueueBackend, Job, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';

type Next = Awaited<ReturnType<Job['moveToCompleted']>>;

interface Options {
  worker: () => Worker;
  /** Whether the worker may take another job when a job ends. */
  mayTakeNext: () => boolean;
  /** The handlers add jobs without waking a worker. */
  isSilent?: boolean | undefined;
}

/**
 * Ends jobs while their handlers wait for their last append. The end goes out on the connection of the appends, so Redis runs appends and
 * ends in the order of sending, and a single fsync covers both. The end fetches the next job too. BullMQ's worker gets the fetched job when
 * the handler returns and the worker ends the job.
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
    // When the early end failed, the worker's own command decides the state of the job.
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

  /** Whether the job was ended early and is gone. */
  async isOver(job: Job): Promise<boolean> {
    return (await this.#ends.get(job)) !== undefined;
  }

  async #end(
    job: Job,
    token: string | undefined,
    complete: Job['moveToCompleted'],
  ): Promise<{ next: Next } | undefined> {
    // The handler's commands are sent by the next tick. BullMQ sends its own commands some promises later.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const fetchNext = this.#fetchesNext();
    // A copy: V8 makes an object slow when the object becomes a prototype.
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

  /**
   * Wakes a worker: the job added by the handler waits, and no worker knows of the job. Without a connection, a worker finds the job at its
   * next look.
   */
  async #wakeOther(): Promise<void> {
    if (this.#isSilent) await wakeWaiting(this.#redis, this.#worker()).catch(() => undefined);
  }

  /** The backend of the worker, on the connection of the appends. */
  #openBackend(): IQueueBackend {
    const { name, opts } = this.#worker();
    const silent = this.#isSilent ? 'ends' : undefined;
    this.#backend ??= openBackend(this.#redis, { prefix: queuePrefix, silent })(name, opts);
    return this.#backend;
  }
}
