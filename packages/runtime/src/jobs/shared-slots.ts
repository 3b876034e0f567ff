import { jobPriority, readTenant, type WorkerDeps, wakeWaiting } from '@holdpoint/engine/worker';
import { Job, WaitingError, type Worker } from 'bullmq';
import { chooseNext, type Owner } from './choose-next.ts';
import { readWaiting, type WaitingJob } from './read-waiting.ts';

/** How often a worker without a free slot looks at the waiting jobs, ms. */
const lookMs = 100;
/** A look at a long queue is followed by a rest of so many times its length. */
const restPerLook = 5;
/** Number of priorities smaller than the normal priority of jobs. */
const most = jobPriority.priority - 1;

/** In addition to its slots, a queue has a quarter more in reserve, for tenants with fewer jobs in this worker. */
const reserveOf = (slots: number): number => Math.ceil(slots / 4);

interface Options<Data> {
  deps: Pick<WorkerDeps, 'redis' | 'logger'>;
  worker: () => Worker<Data>;
  slots: number;
  running: ReadonlySet<Job<Data>>;
  isHeld(): boolean;
}

/**
 * Shares the slots of a queue between tenants, and between the runs of a tenant. While a slot is free, jobs begin in the order of their
 * queue. While no slot is free, the worker looks at the waiting jobs and moves the jobs of tenants with the fewest running jobs to the
 * front, so these get the next free slots. A tenant with fewer jobs than the reserve gets a slot beyond the others. Only the order of the
 * queue changes, so a killed worker loses nothing.
 */
export class SharedSlots<Data extends { run_id: string }> {
  readonly #options: Options<Data>;
  readonly #reserve: number;
  /** Tenants, by run. */
  #tenants = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options<Data>) {
    this.#options = options;
    this.#reserve = reserveOf(options.slots);
  }

  /** Whether the worker may take another job when a job ends. */
  mayTakeNext(): boolean {
    return this.#options.running.size <= this.#options.slots;
  }

  /**
   * Puts a job without a slot for its tenant back.
   * @throws WaitingError after putting the job back
   */
  async admit(job: Job<Data>, token: string | undefined): Promise<void> {
    const { worker, slots, running, deps } = this.#options;
    // Before anything else: BullMQ takes the next job while fewer jobs run than `concurrency`.
    worker().concurrency = slots;
    if (running.size <= slots || (await this.#fitsReserve(job))) return;
    await job.moveToWait(token);
    // Another worker may have a slot, and this worker took its wake-up.
    await wakeWaiting(deps.redis, worker());
    throw new WaitingError();
  }

  /** Looks at the waiting jobs from time to time, until the worker closes. */
  start(): void {
    const again = async (): Promise<void> => {
      const from = performance.now();
      await this.#look().catch((error: unknown) =>
        this.#options.deps.logger.debug(
          { queue: this.#options.worker().name, err: error },
          'the slots were not shared',
        ),
      );
      if (!this.#options.worker().closing) next(Math.max(lookMs, restPerLook * (performance.now() - from)));
    };
    const next = (ms: number): void => {
      this.#timer = setTimeout(() => void again(), ms).unref();
    };
    next(lookMs);
    this.#options.worker().on('closing', () => clearTimeout(this.#timer));
  }

  async #look(): Promise<void> {
    const { deps, worker, slots, running } = this.#options;
    if (running.size < slots || !this.#takesJobs()) return;
    const found = await readWaiting(deps.redis, worker());
    if (found.length === 0) return;
    const waiting = await this.#owned(found, ({ run }) => run);
    const owners = await this.#owned([...running], ({ data }) => data.run_id);
    this.#forget([...waiting, ...owners]);
    const next = chooseNext(waiting, owners, most);
    await Promise.all(newOrder(waiting, next).map((change) => this.#reorder(change)));
    if (next[0] !== undefined && this.#hasReserve(next[0].tenant, owners)) await this.#takeOneMore();
  }

  #takesJobs(): boolean {
    return !this.#options.worker().closing && !this.#options.worker().isPaused() && !this.#options.isHeld();
  }

  async #fitsReserve(job: Job<Data>): Promise<boolean> {
    const others = [...this.#options.running].filter((one) => one !== job);
    const owners = await this.#owned(others, ({ data }) => data.run_id);
    return this.#hasReserve(await this.#tenantOf(job.data.run_id), owners);
  }

  #hasReserve(tenant: string, running: readonly Owner[]): boolean {
    if (running.length >= this.#options.slots + this.#reserve) return false;
    return running.filter((one) => one.tenant === tenant).length < this.#reserve;
  }

  /** The job may be active in another worker by now, or gone. */
  async #reorder({ job, priority }: Change): Promise<void> {
    const one = new Job(this.#options.worker(), '', {}, {}, job.id);
    await one.changePriority({ priority, lifo: priority === jobPriority.priority }).catch(() => undefined);
  }

  /** A worker without a free slot looks at its concurrency when a job ends, or when the worker is resumed. */
  async #takeOneMore(): Promise<void> {
    const worker = this.#options.worker();
    if (!this.#takesJobs() || this.#options.running.size < this.#options.slots) return;
    worker.concurrency = this.#options.running.size + 1;
    await worker.pause(true);
    await worker.resume();
    // Another part held the worker at the same moment.
    if (this.#options.isHeld()) await worker.pause(true);
  }

  async #owned<T extends object>(all: readonly T[], runOf: (one: T) => string): Promise<(T & Owner)[]> {
    const tenants = await Promise.all(all.map((one) => this.#tenantOf(runOf(one))));
    return all.map((one, at) => ({ ...one, run: runOf(one), tenant: tenants[at] as string }));
  }

  async #tenantOf(run: string): Promise<string> {
    const tenant = this.#tenants.get(run) ?? (await readTenant(this.#options.deps.redis, run));
    this.#tenants.set(run, tenant);
    return tenant;
  }

  #forget(all: readonly Owner[]): void {
    this.#tenants = new Map(all.map(({ run, tenant }) => [run, tenant]));
  }
}

interface Change {
  job: WaitingJob;
  priority: number;
}

/** The changes of priorities needed to put the chosen jobs first, and no other job before the rest. */
function newOrder(waiting: readonly WaitingJob[], chosen: readonly WaitingJob[]): Change[] {
  if (chosen.every((job, at) => waiting[at] === job)) return [];
  const wanted = new Map(chosen.map((job, at) => [job, at + 1]));
  return waiting.flatMap((job) => {
    const priority = wanted.get(job) ?? Math.max(job.priority, jobPriority.priority);
    return priority === job.priority ? [] : [{ job, priority }];
  });
}
