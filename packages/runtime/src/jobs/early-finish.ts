import { openBackend, queuePrefix, wakeWaiting } from '@holdpoint/engine/worker';
import { type BackendFactory, createRedisBackend, type Job, RedisQueueBackend, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';

type Complete = RedisQueueBackend['moveToCompleted'];
type End = Awaited<ReturnType<Complete>>;
/** By job: undefined after an early end that failed. */
type Ends = WeakMap<object, Promise<End | undefined>>;

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
  readonly #ends: Ends = new WeakMap();
  readonly #isSilent: boolean;
  #backend: RedisQueueBackend | undefined;

  /** @param redis the connection of the appends */
  constructor(redis: Redis, { worker, mayTakeNext, isSilent = false }: Options) {
    this.#redis = redis;
    this.#worker = worker;
    this.#mayTakeNext = mayTakeNext;
    this.#isSilent = isSilent;
  }

  /** Opens the backend of the worker: it knows the jobs that ended early. */
  readonly openWorkerBackend: BackendFactory<RedisQueueBackend> = (name, options, kind) => {
    const opened = createRedisBackend(name, options, kind);
    // The returned backend reports the errors of the same connections.
    opened.on('error', () => undefined);
    const { connection, keys, blockingConnection } = opened;
    const toKey = (type: string): string => opened.toKey(type);
    return new WorkerBackend(this.#ends, connection, name, keys, toKey, options, blockingConnection);
  };

  start(job: Job, token: string | undefined): void {
    if (!this.#ends.has(job)) this.#ends.set(job, this.#end(job, token));
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

  async #end(job: Job, token: string | undefined): Promise<End | undefined> {
    // The handler's commands are sent by the next tick. BullMQ sends its own commands some promises later.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const fetchNext = this.#fetchesNext();
    const { removeOnComplete = true } = job.opts;
    try {
      const end = await this.#openBackend().moveToCompleted(job, undefined, removeOnComplete, token ?? '', fetchNext);
      if (!fetchNext) await this.#wakeOther();
      return end;
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

  /** The queue of the worker, on the connection of the appends. */
  #openBackend(): RedisQueueBackend {
    const { name, opts } = this.#worker();
    this.#backend ??= openBackend(this.#redis, { prefix: queuePrefix, isSilent: this.#isSilent })(name, opts);
    return this.#backend;
  }
}

/** Answers the worker's own end of a job with the answer of the early end. */
class WorkerBackend extends RedisQueueBackend {
  readonly #ends: Ends;

  constructor(ends: Ends, ...backend: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...backend);
    this.#ends = ends;
  }

  /** When the early end failed, the worker's own command decides the state of the job. */
  override async moveToCompleted(...end: Parameters<Complete>): ReturnType<Complete> {
    const [job] = end;
    return (await this.#ends.get(job)) ?? super.moveToCompleted(...end);
  }
}
