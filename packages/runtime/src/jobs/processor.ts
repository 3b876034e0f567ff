import * as engine from '@holdpoint/engine/worker';
import { DelayedError, type Job, WaitingError } from 'bullmq';
import type { InJob } from '../traces/open-worker-traces.ts';
import type { EarlyFinish } from './early-finish.ts';
import type { SharedSlots } from './shared-slots.ts';
import { HandlerStuck, type StuckHandlers } from './stuck-handlers.ts';

/** The handler of a queue's jobs, and how missed wake-ups reach the jobs. */
export interface JobKind<Data> {
  handle(deps: engine.WorkerDeps, data: Data, context: engine.JobContext): Promise<engine.JobEnd>;
  /** @param seen sequence number of the run when the handler acted on the run */
  wakeMissed(deps: engine.WorkerDeps, data: Data, seen: number): Promise<void>;
  mayStillSleep?(deps: engine.WorkerDeps, data: Data, end: { seen?: number }): Promise<boolean>;
  /** Adds the job once more. Only handlers of a kind with `again` may end their job before they return. */
  again?(deps: engine.WorkerDeps, data: Data): Promise<void>;
  /** Set for jobs of steps: a handler may add the next step's job, and the end of the handler's own job fetches the added job. */
  takesNextStep?: boolean;
}

/** Delay of a job that arrives while an earlier handler of the job still runs in this process, ms. */
const leavingMs = 200;

/**
 * Wraps a handler for BullMQ. A sleeping job moves to the delayed set. A wake-up between the handler's look at the log and the move would
 * be lost, so the job looks at the log once more after the move, and is promoted when the run needs the job.
 */
export function processor<Data extends { run_id: string }>(
  deps: engine.WorkerDeps,
  { handle, mayStillSleep, again, takesNextStep }: JobKind<Data>,
  options: {
    running: Set<Job<Data>>;
    /** For each finished job, the sequence number of the run when the handler acted on the run. */
    seen: WeakMap<Job<Data>, number>;
    /** Controllers to abort the calls of the jobs. */
    calls: WeakMap<Job<Data>, AbortController>;
    /** Whether this worker takes no jobs now. A job still arrives when the worker was already waiting for a job. */
    isHeld?: () => boolean;
    /** Undefined: no traces are exported. */
    inJob?: InJob | undefined;
    /** Ends a job before its handler has returned. */
    finishing: EarlyFinish;
    stuck: StuckHandlers;
    slots: SharedSlots<Data>;
  },
) {
  const run = async (job: Job<Data>, token: string | undefined, context: engine.JobContext): Promise<void> => {
    if (options.isHeld?.()) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    await options.slots.admit(job, token);
    const { inJob } = options;
    const handled =
      inJob === undefined
        ? handle(deps, job.data, context)
        : inJob(job.queueName, job.data, () => handle(deps, job.data, context));
    const end = await handled.catch(async (error: unknown) => {
      if (!(error instanceof engine.HandBack)) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    });
    if (end.kind === 'done') {
      if (end.seen !== undefined) options.seen.set(job, end.seen);
      return;
    }
    // BullMQ compares the end of the delay with the wall clock of this process, which may be wrong: without the conversion of `end.until`,
    // a clock running ahead would bring the job back at once.
    await job.moveToDelayed(Date.now() + engine.capDelay(end.until - deps.now()), token);
    if (mayStillSleep && !(await mayStillSleep(deps, job.data, end))) {
      await job.promote().catch((error: unknown) => deps.logger.debug({ job: job.id, err: error }, 'already awake'));
    }
    throw new DelayedError();
  };
  /** Gives the job of a stuck handler back, so another job can begin. A job with a lost lock belongs to another worker. */
  const giveBack = async (job: Job<Data>, token: string | undefined, cause: HandlerStuck): Promise<void> => {
    const fields = { event: 'handler_stuck', queue: job.queueName, run_id: job.data.run_id, job: job.id };
    deps.logger.error({ ...fields, reason: cause.reason }, 'a handler ignores its abort; its place is given back');
    if (options.finishing.hasBegun(job)) return;
    if (cause.reason === 'lock-lost') throw cause;
    await job.moveToDelayed(Date.now() + leavingMs, token);
    throw new DelayedError();
  };
  const inside = new Map<string | undefined, { job: Job<Data>; leave: AbortController }>();
  // Three declared parameters: BullMQ makes a signal only for handlers with a third parameter.
  return async (job: Job<Data>, token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
    const former = inside.get(job.id);
    if (former !== undefined && !options.finishing.hasBegun(former.job)) {
      // The job lost its lock and came again to the same worker. BullMQ renews a single lock and aborts a single signal per job id: two
      // handlers side by side would take the lock and the work from each other.
      former.leave.abort('lock-lost' satisfies engine.AbortReason);
      await job.moveToDelayed(Date.now() + leavingMs, token);
      throw new DelayedError();
    }
    const mine = { job, leave: new AbortController() };
    inside.set(job.id, mine);
    const call = new AbortController();
    options.calls.set(job, call);
    const context: engine.JobContext = {
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
      // The queue cannot retry a job already removed. The next job, fetched together with the end of this job, has to begin.
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
