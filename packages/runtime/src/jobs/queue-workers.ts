import { queueNames, TraceIds } from '@holdpoint/engine';
import { type Follower, startTelemetryFollower } from '@holdpoint/engine/following';
import type { Connections } from '@holdpoint/engine/redis';
import * as engine from '@holdpoint/engine/worker';
import { type LogContext, withLogContext } from '@holdpoint/telemetry';
import type { Telemetry, Worker, WorkerOptions } from 'bullmq';
import type { RuntimeConfig } from '../runtime-config.ts';
import type { InJob } from '../traces/open-worker-traces.ts';
import { backOffFromRefusals } from './back-off.ts';
import { type HoldReason, Intake } from './intake.ts';
import { openWorker } from './open-worker.ts';
import type { JobKind } from './processor.ts';
import { startPeriodic } from './start-periodic.ts';
import { startReviews } from './start-reviews.ts';
import { mostStuck, StuckHandlers } from './stuck-handlers.ts';

type JobData = LogContext & { run_id: string };

/** The same jobs, with the run, step, task or turn in each line of the log. */
const logged = <Data extends JobData>(kind: JobKind<Data>, traceIds: TraceIds): JobKind<Data> => ({
  ...kind,
  handle(deps, data, context) {
    traceIds.learn(deps.redis, data.run_id);
    return withLogContext(aboutJob(data), () => kind.handle(deps, data, context));
  },
  wakeMissed: (deps, data, seen) => withLogContext(aboutJob(data), () => kind.wakeMissed(deps, data, seen)),
});

const aboutJob = ({ run_id, step_id, task_id, turn }: JobData): LogContext => ({
  run_id,
  ...(step_id !== undefined && { step_id }),
  ...(task_id !== undefined && { task_id }),
  ...(turn !== undefined && { turn }),
});

export interface RunningWorkers {
  /** Ids of the runs with a running job in this process. */
  active(): Set<string>;
  /** Aborts the turns, steps and background commands of a run in this process. */
  cancelRun(runId: string): void;
  /** Aborts the call of a step in this process; the job of the step continues. */
  cancelStep(stepId: string): void;
  /** Aborts a background command of this process. */
  killTask(taskId: string): void;
  /** Names of the running jobs: the id of the run with a step id, a task id, the number of a turn, or `workspace`. */
  running(): string[];
  /** Ids of the steps running in this process, and of their runs. */
  steps(): { run_id: string; step_id: string }[];
  /** Ids of the background commands running in this process, and of their runs. */
  tasks(): { run_id: string; task_id: string }[];
  /**
   * For each queue: the most jobs at once in this process, the running jobs, and the stuck handlers, which ignored their abort and hold no
   * slot.
   */
  slots(): { queue: string; all: number; used: number; stuck: number }[];
  /** Whether this process follows the logs for traces and metrics. */
  isFollower(): boolean;
  /** Why this process takes no jobs of some queue. */
  held(): Set<HoldReason>;
  /** Stops taking steps, turns and background commands until `release`; publishing, undoing and discarding continue. */
  hold(): void;
  release(): void;
  /** Takes no more jobs, waits for the running jobs, and hands back the jobs left after `drainMs`. */
  drain(drainMs: number): Promise<void>;
}

interface Start {
  /** Makes the secrets of a tenant unreadable in audit records. @default nothing is a secret */
  redact?: (text: string, tenant: string) => string;
  deps: engine.WorkerDeps;
  config: Pick<
    RuntimeConfig,
    'steps' | 'turns' | 'runs' | 'tasks' | 'lockMs' | 'stalledMs' | 'sweepMs' | 'maintenanceMs' | 'dataDir'
  >;
  connections: Connections;
  /** Called for each job whose worker fell silent. */
  onStalled?: (queue: string) => void;
  /** Called when so many handlers of a queue ignore their abort that the process should be replaced. */
  onUnusable?: (queue: string, stuck: number) => void;
  /** Called for each handler that ignores its abort. */
  onStuck?: (queue: string) => void;
  /** Called when the audit log finds that Redis lost events of this many runs. */
  onLosses?: (runs: number) => void;
  /** Undefined: BullMQ's own spans are not exported. */
  queueTelemetry?: Telemetry | undefined;
  /** Puts the live spans of a job below the span of the step, task, publish or run the job works for. */
  inJob?: InJob | undefined;
  /** Opens the follower of the logs, for traces and metrics. Undefined: there are neither traces nor metrics. */
  openFollower?: (() => Promise<Follower>) | undefined;
  /** For lines of the log. */
  traceIds?: TraceIds;
}

/** Most publishes, undos and discards at once in this process. */
const workspaceSlots = 4;

/**
 * Each admitted run finds a slot for its turn. The admission (`engine/src/admission`) bounds the number of runs, and admits a fourth more
 * for tenants with few runs, and a fourth of the working runs for short runs.
 */
const turnSlots = ({ turns, runs }: Pick<RuntimeConfig, 'turns' | 'runs'>): number =>
  turns + Math.ceil(turns / 4) + runs + 2 * Math.ceil(runs / 4);

/**
 * A lock is renewed after an eighth to a quarter of its time. Where 40 processes wait for each core, an event loop is late by 1.3 s
 * (median) to 5 s. A take-over or a publish begins again from the start after losing its lock, so locks of the queue of workspaces live
 * twice as long.
 */
const lockOf = (lockMs: number) => ({ lockDuration: lockMs, lockRenewTime: lockMs / 4 });

/** Starts one BullMQ worker per queue, the timers of the periodic work, and the writer of the audit log. */
export async function startQueueWorkers({
  deps,
  redact,
  config,
  connections,
  queueTelemetry,
  inJob,
  openFollower,
  traceIds = new TraceIds(),
  onStalled = () => undefined,
  onLosses = () => undefined,
  onUnusable = () => undefined,
  onStuck = () => undefined,
}: Start): Promise<RunningWorkers> {
  const options = (concurrency: number): WorkerOptions => ({
    connection: connections.worker(),
    prefix: engine.queuePrefix,
    concurrency,
    ...lockOf(config.lockMs),
    stalledInterval: config.stalledMs,
    // A step's own attempts are counted in the log; the queue must never give up on a wake-up.
    maxStalledCount: 1_000_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    settings: { backoffStrategy: (made, _type, error) => engine.backoffOf(made, error, Math.random) },
    ...(queueTelemetry && { telemetry: queueTelemetry }),
  });

  const stuckOf = (queue: string, slots: number) =>
    new StuckHandlers((count) => {
      onStuck(queue);
      if (count >= mostStuck(slots)) onUnusable(queue, count);
    });

  const intake = new Intake();
  const isHeld = (worker: Worker): boolean => intake.holds(worker);
  const turns = openWorker<engine.TurnJob>(
    deps,
    queueNames.turns,
    logged<engine.TurnJob>(
      {
        handle: engine.handleTurn,
        wakeMissed: engine.wakeMissed.turn,
        mayStillSleep: engine.mayTurnSleep,
        again: turnAgain,
      },
      traceIds,
    ),
    { ...options(turnSlots(config)), isHeld, inJob, stuck: stuckOf(queueNames.turns, turnSlots(config)) },
  );
  const steps = openWorker<engine.StepJob>(
    deps,
    queueNames.steps,
    logged<engine.StepJob>(
      {
        handle: engine.handleStep,
        wakeMissed: engine.wakeMissed.step,
        mayStillSleep: engine.mayStillSleep,
        again: stepAgain,
        takesNextStep: true,
      },
      traceIds,
    ),
    { ...options(config.steps), isHeld, inJob, stuck: stuckOf(queueNames.steps, config.steps) },
  );
  const workspaces = openWorker<engine.WorkspaceJob>(
    deps,
    queueNames.workspaces,
    logged<engine.WorkspaceJob>(
      {
        handle: engine.handleWorkspace,
        wakeMissed: engine.wakeMissed.workspace,
        mayStillSleep: engine.mayPublicationSleep,
      },
      traceIds,
    ),
    {
      ...options(workspaceSlots),
      ...lockOf(2 * config.lockMs),
      ...{ inJob, stuck: stuckOf(queueNames.workspaces, workspaceSlots) },
    },
  );
  const tasks = openWorker<engine.TaskJob>(
    deps,
    queueNames.tasks,
    logged<engine.TaskJob>({ handle: engine.handleTask, wakeMissed: engine.wakeMissed.task }, traceIds),
    { ...options(config.tasks), isHeld, inJob, stuck: stuckOf(queueNames.tasks, config.tasks) },
  );
  const opened = [turns, steps, workspaces, tasks];
  const all = opened.map(({ worker }) => worker);
  const ending = new AbortController();
  const refused = backOffFromRefusals({
    deps,
    hold: () => intake.hold('redis', all),
    release: () => intake.release('redis'),
    signal: ending.signal,
  });
  for (const worker of all) {
    worker.on('error', (error) => {
      deps.logger.warn({ queue: worker.name, err: error }, 'queue worker error');
      refused(error);
    });
    worker.on('stalled', () => onStalled(worker.name));
    // BullMQ does not abort a job after losing the job's lock. Another worker has the job now, so this worker must stop.
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.cancelJob(id, 'lock-lost' satisfies engine.AbortReason);
    });
  }
  await Promise.all(all.map((worker) => worker.waitUntilReady()));
  const periodic = startPeriodic(deps, config);
  const reviews = startReviews(deps);
  const audit = engine.startAudit({
    ...deps,
    redact,
    dataDir: config.dataDir,
    subscriber: connections.subscriber,
    onLosses,
  });
  const following = { ...deps, subscriber: connections.subscriber };
  const follower = openFollower && startTelemetryFollower({ ...following, open: openFollower });

  return {
    active: () => new Set(opened.flatMap(({ running }) => [...running].map(({ data }) => data.run_id))),
    steps: () => [...steps.running].map((job) => job.data),
    tasks: () => [...tasks.running].map((job) => job.data),
    running: () => [
      ...[...steps.running].map(({ data }) => `${data.run_id}/${data.step_id}`),
      ...[...tasks.running].map(({ data }) => `${data.run_id}/${data.task_id}`),
      ...[...turns.running].map(({ data }) => `${data.run_id}/turn ${data.turn}`),
      ...[...workspaces.running].map(({ data }) => `${data.run_id}/workspace`),
    ],
    slots: () => [
      { queue: 'steps', all: config.steps, used: steps.running.size, stuck: steps.stuck.count },
      { queue: 'turns', all: turnSlots(config), used: turns.running.size, stuck: turns.stuck.count },
      { queue: 'tasks', all: config.tasks, used: tasks.running.size, stuck: tasks.stuck.count },
      { queue: 'workspaces', all: workspaceSlots, used: workspaces.running.size, stuck: workspaces.stuck.count },
    ],
    held: () => intake.reasons(),
    isFollower: () => follower?.isHolder() ?? false,
    cancelRun(runId) {
      const reason: engine.AbortReason = 'canceled';
      for (const job of turns.running) if (job.data.run_id === runId) turns.worker.cancelJob(String(job.id), reason);
      for (const job of steps.running) if (job.data.run_id === runId) steps.worker.cancelJob(String(job.id), reason);
      for (const job of tasks.running) if (job.data.run_id === runId) tasks.worker.cancelJob(String(job.id), reason);
    },
    cancelStep(stepId) {
      for (const job of steps.running) if (job.data.step_id === stepId) steps.cancelCall(job);
    },
    killTask(taskId) {
      for (const job of tasks.running) {
        if (job.data.task_id === taskId)
          tasks.worker.cancelJob(String(job.id), 'canceled' satisfies engine.AbortReason);
      }
    },
    hold: () =>
      intake.hold(
        'space',
        [turns, steps, tasks].map(({ worker }) => worker),
      ),
    release: () => intake.release('space'),
    async drain(drainMs) {
      ending.abort();
      await periodic.stop();
      await reviews.stop();
      const deadline = setTimeout(() => {
        for (const worker of all) worker.cancelAllJobs('shutdown' satisfies engine.AbortReason);
      }, drainMs);
      await Promise.all(all.map((worker) => worker.close()));
      clearTimeout(deadline);
      await Promise.all(opened.map((one) => one.looked()));
      // Last: the audit log and the follower read everything the jobs have appended.
      await Promise.all([audit.stop(), follower?.stop()]);
    },
  };
}

const turnAgain = ({ queues }: engine.WorkerDeps, { run_id: id, turn }: engine.TurnJob): Promise<void> =>
  queues.wakeTurn({ id }, turn);

const stepAgain = ({ queues }: engine.WorkerDeps, { run_id: id, step_id }: engine.StepJob): Promise<void> =>
  queues.wakeStep({ id }, step_id);
