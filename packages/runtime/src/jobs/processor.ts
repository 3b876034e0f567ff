import {
  type AbortReason,
  capDelay,
  HandBack,
  type JobContext,
  type JobEnd,
  type WorkerDeps,
} from '@holdpoint/engine/worker';
import { DelayedError, type Job, WaitingError } from 'bullmq';
import type { InJob } from '../traces/trace-jobs.ts';
import type { EarlyFinish } from './early-finish.ts';
import type { SharedSlots } from './shared-slots.ts';
import { HandlerStuck, type StuckHandlers } from './stuck-handlers.ts';

/** What is done with the jobs of a queue. */
export interface JobKind<Data> {
  handle(deps: WorkerDeps, data: Data, context: JobContext): Promise<JobEnd>;
  /** @param seen the sequence number of the run that the handler acted on */
  wakeMissed(deps: WorkerDeps, data: Data, seen: number): Promise<void>;
  mayStillSleep?(deps: WorkerDeps, data: Data, end: { seen?: number }): Promise<boolean>;
  /** Adds the job once more. Handlers of jobs that have it may end their job before they return. */
  again?(deps: WorkerDeps, data: Data): Promise<void>;
  /** The jobs are those of steps, whose handlers may add the one that the end of their job takes. */
  takesNextStep?: boolean;
}

/** How long a job sleeps that came again while its handler still runs here, ms. */
const leavingMs = 200;

/**
 * A handler as BullMQ calls it. A sleeping job moves to the delayed set. A wake-up between its look at the log and that move would be
 * lost, so the job looks once more and promotes itself.
 */
export function processor<Data extends { run_id: string }>(
  deps: WorkerDeps,
  { handle, mayStillSleep, again, takesNextStep }: JobKind<Data>,
  options: {
    running: Set<Job<Data>>;
    /** What the jobs that are done have seen of their runs. */
    seen: WeakMap<Job<Data>, number>;
    /** What ends the calls that the jobs make. */
    calls: WeakMap<Job<Data>, AbortController>;
    /** Whether this worker takes no jobs now. A job that it was already waiting for still arrives. */
    isHeld?: () => boolean;
    /** Undefined: no traces are exported. */
    inJob?: InJob | undefined;
    /** Ends a job before its handler has returned. */
    finishing: EarlyFinish;
    stuck: StuckHandlers;
    slots: SharedSlots<Data>;
  },
) {
  const run = async (job: Job<Data>, token: string | undefined, context: JobContext): Promise<void> => {
    if (options.isHeld?.()) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    await options.slots.admit(job, token);
    const { inJob } = options;
    const work = () => handle(deps, job.data, context);
    const end = await (inJob === undefined ? work() : inJob(job.queueName, job.data, work)).catch(
      async (error: unknown) => {
        if (!(error instanceof HandBack)) throw error;
        await job.moveToWait(token);
        throw new WaitingError();
      },
    );
    if (end.kind === 'done') {
      if (end.seen !== undefined) options.seen.set(job, end.seen);
      return;
    }
    // BullMQ compares with the wall clock of this process, which may be wrong: one that is ahead would bring the job back at once.
    await job.moveToDelayed(Date.now() + capDelay(end.until - deps.now()), token);
    if (mayStillSleep && !(await mayStillSleep(deps, job.data, end))) {
      await job.promote().catch((error: unknown) => deps.logger.debug({ job: job.id, err: error }, 'already awake'));
    }
    throw new DelayedError();
  };
  /** Ends the job of a handler that ignores its abort, so that another one can begin. A job whose lock is lost is another worker's. */
  const giveBack = async (job: Job<Data>, token: string | undefined, cause: HandlerStuck): Promise<void> => {
    const fields = { event: 'handler_stuck', queue: job.queueName, run_id: job.data.run_id, job: job.id };
    deps.logger.error({ ...fields, reason: cause.reason }, 'a handler ignores its abort; its place is given back');
    if (options.finishing.hasBegun(job)) return;
    if (cause.reason === 'lock-lost') throw cause;
    await job.moveToDelayed(Date.now() + leavingMs, token);
    throw new DelayedError();
  };
  const inside = new Map<string | undefined, { job: Job<Data>; leave: AbortController }>();
  // Three declared parameters: BullMQ makes a signal only for handlers that take it.
  return async (job: Job<Data>, token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
    const former = inside.get(job.id);
    if (former !== undefined && !options.finishing.hasBegun(former.job)) {
      // The job lost its lock and came again to the same worker, which renews one lock and aborts one signal per id: side by side, each
      // handler would take the other's lock and its work away.
      former.leave.abort('lock-lost' satisfies AbortReason);
      await job.moveToDelayed(Date.now() + leavingMs, token);
      throw new DelayedError();
    }
    const mine = { job, leave: new AbortController() };
    inside.set(job.id, mine);
    const call = new AbortController();
    options.calls.set(job, call);
    const context: JobContext = {
      canceled: call.signal,
      signal: signal === undefined ? mine.leave.signal : AbortSignal.any([signal, mine.leave.signal]),
      lastTry: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
      ...(again && { finish: () => options.finishing.start(job, token) }),
      ...(takesNextStep && { takesNextStep: () => options.finishing.takesNext(job) }),
    };
    options.running.add(job);
    try {
      await options.stuck.settle(run(job, token, context), context.signal);
    } catch (error) {
      if (error instanceof HandlerStuck) return await giveBack(job, token, error);
      // A job that is gone cannot be tried again. The next one, which came with its end, has to begin.
      if (!(await options.finishing.isOver(job))) throw error;
      const fields = { run_id: job.data.run_id, job: job.id };
      deps.logger.warn({ ...fields, err: error }, 'a handler failed after its job had ended; it gets another job');
      await again?.(deps, job.data).catch((cause: unknown) =>
        deps.logger.warn({ ...fields, err: cause }, 'no other job could be added; the sweeper adds it'),
      );
    } finally {
      options.running.delete(job);
      if (inside.get(job.id) === mine) inside.delete(job.id);
    }
  };
}
