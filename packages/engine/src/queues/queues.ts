import { Job, type JobsOptions, Queue, type Telemetry } from 'bullmq';
import type { Redis } from 'ioredis';
import { openBackend, scoreUnit } from './open-backend.ts';

/** Jobs are wake-ups and name a run and a part of the run; the log is the truth. */
export interface TurnJob {
  run_id: string;
  turn: number;
}
export interface StepJob {
  run_id: string;
  step_id: string;
}
export interface WorkspaceJob {
  run_id: string;
}
export interface TaskJob {
  run_id: string;
  task_id: string;
}

/** The run of a job, for example a `RunState`. */
export interface JobOwner {
  id: string;
}

/** All queues of a shard share its hash tag. Today there is a single shard; a run's shard will be a hash of its id. */
export const queuePrefix = '{hp-0}';
export const queueNames = {
  turns: 'turns',
  steps: 'steps',
  workspaces: 'workspaces',
  tasks: 'tasks',
} as const;

/** Deterministic, so the same wake-up is never queued twice. */
export const jobIds = {
  turn: (runId: string, turn: number): string => `turn-${runId}-${turn}`,
  step: (stepId: string): string => stepId,
  workspace: (runId: string): string => `workspace-${runId}`,
  task: (taskId: string): string => taskId,
};

export interface Queues {
  readonly turns: Queue<TurnJob>;
  readonly steps: Queue<StepJob>;
  readonly workspaces: Queue<WorkspaceJob>;
  readonly tasks: Queue<TaskJob>;
  /** @param notBefore milliseconds since the epoch: the job is delayed until then */
  addTurn(run: JobOwner, turn: number, notBefore?: number): Promise<void>;
  /** Makes the job of a turn run soon: promotes a sleeping job, adds a missing job. */
  wakeTurn(run: JobOwner, turn: number): Promise<void>;
  /** Promotes the sleeping job of a turn when the turn is not planned now: the handler then drops the job. No-op without a job. */
  releaseTurn(runId: string, turn: number): Promise<void>;
  /** @param notBefore milliseconds since the epoch: the job is delayed until then */
  addStep(run: JobOwner, stepId: string, notBefore?: number): Promise<void>;
  /**
   * Adds the job of a step for the end of another step's job, which takes the new job and leaves right after. No waiting worker is woken.
   */
  addNextStep(run: JobOwner, stepId: string): Promise<void>;
  /** Makes a step's job run soon: promotes a parked job, adds a missing job. */
  wakeStep(run: JobOwner, stepId: string): Promise<void>;
  /**
   * Like `wakeStep`, for a call just decided, in one command where the job is parked. A job waiting for its next try is promoted as
   * well, once per decision.
   */
  wakeDecided(run: JobOwner, stepId: string): Promise<void>;
  /** Promotes the parked job of a settled step: the handler then drops the job. No-op without a job. */
  releaseStep(stepId: string): Promise<void>;
  /** @param notBefore milliseconds since the epoch: the job is delayed until then */
  addWorkspace(runId: string, notBefore?: number): Promise<void>;
  /** Makes the job of a run's workspace run soon: promotes a parked job, adds a missing job. */
  wakeWorkspace(runId: string): Promise<void>;
  /** Makes a task's job run soon: promotes a delayed job, adds a missing job. */
  wakeTask(runId: string, taskId: string): Promise<void>;
  /**
   * Promotes jobs with a next try much later than the delay they asked for: the process that delayed them had a wrong clock.
   * @param among gives ids of delayed jobs, of the sorted set with this key
   * @returns the number of promoted jobs
   */
  wakeOversleeping(among: (key: string) => AsyncIterable<readonly string[]>): Promise<number>;
  close(): Promise<void>;
}

/**
 * All jobs have the same priority: the priority of a run decides when the run begins (`admission/admission.ts`), and runs in progress share the
 * workers. A worker with no free slot gives smaller priorities to the jobs due next (`runtime/src/jobs/shared-slots.ts`). The priority is
 * not left out: BullMQ takes jobs without a priority first.
 */
export const jobPriority = { priority: 10 };

/** Infrastructure errors are retried with exponential backoff and jitter; after the last attempt the run pauses. */
const retries: JobsOptions = {
  attempts: 8,
  backoff: { type: 'holdpoint' },
  removeOnComplete: true,
  // A job kept in the failed set would block its own id for ever. The log keeps the history.
  removeOnFail: true,
};

/**
 * Milliseconds until retry n: `retryAfterMs` of the error, or 0.25 s, 0.5 s, … up to 30 s, each ± half.
 * @param error thrown by the job: an aborted job throws its reason, a string
 */
export function backoffOf(attemptsMade: number, error: unknown, random: () => number): number {
  if (error instanceof Error && 'retryAfterMs' in error && typeof error.retryAfterMs === 'number') {
    return Math.min(error.retryAfterMs, 3_600_000);
  }
  const base = Math.min(250 * 2 ** (attemptsMade - 1), 30_000);
  return Math.round(base * (0.5 + random()));
}

/** BullMQ's scores lose precision after 2039. */
const longestDelay = 10 * 365 * 24 * 3600 * 1000;
export const capDelay = (ms: number): number => Math.max(0, Math.min(ms, longestDelay));

const backoffHorizon = 60_000;
/** The longest sleep of a turn without a record in the log. */
export const longestNapMs = 60_000;

/** True: a delayed job waits for its next try. False: the job is parked. */
export const isInBackoff = ({ attemptsMade, delay }: Pick<Job, 'attemptsMade' | 'delay'>): boolean =>
  attemptsMade > 0 && delay < backoffHorizon;

/** No program reads them: BullMQ's own 10,000 take half a megabyte per queue. */
const mostQueueEvents = 100;

export function openQueues(redis: Redis, now: () => number, telemetry?: Telemetry): Queues {
  const options = {
    connection: redis,
    prefix: queuePrefix,
    defaultJobOptions: retries,
    streams: { events: { maxLen: mostQueueEvents } },
    telemetry,
  };
  const turns = new Queue<TurnJob>(queueNames.turns, options);
  const steps = new Queue<StepJob>(queueNames.steps, options);
  const nextSteps = new Queue<StepJob>(
    queueNames.steps,
    options,
    openBackend(redis, { prefix: queuePrefix, isSilent: true }),
  );
  const workspaces = new Queue<WorkspaceJob>(queueNames.workspaces, options);
  const tasks = new Queue<TaskJob>(queueNames.tasks, options);
  const all = [turns, steps, workspaces, tasks];
  const opened = [...all, nextSteps];
  for (const queue of opened) queue.on('error', ignoreHere);

  // BullMQ packs job options in binary: an undefined option must be left out.
  const delayUntil = (notBefore: number | undefined): { delay?: number } =>
    notBefore === undefined ? {} : { delay: capDelay(notBefore - now()) };
  const addTurn: Queues['addTurn'] = async (run, turn, notBefore) => {
    const options = { jobId: jobIds.turn(run.id, turn), ...delayUntil(notBefore), ...jobPriority };
    await turns.add('turn', { run_id: run.id, turn }, options);
  };
  const addStep: Queues['addStep'] = async (run, stepId, notBefore) => {
    const options = { jobId: jobIds.step(stepId), ...delayUntil(notBefore), ...jobPriority };
    await steps.add('step', { run_id: run.id, step_id: stepId }, options);
  };
  const wakeStep: Queues['wakeStep'] = async (run, stepId) => {
    const job = await steps.getJob(jobIds.step(stepId));
    return job ? promote(job) : addStep(run, stepId);
  };
  const addWorkspace: Queues['addWorkspace'] = async (runId, notBefore) => {
    const options = { jobId: jobIds.workspace(runId), ...delayUntil(notBefore), ...jobPriority };
    await workspaces.add('workspace', { run_id: runId }, options);
  };
  return {
    turns,
    steps,
    workspaces,
    tasks,
    addTurn,
    async wakeTurn(run, turn) {
      const job = await turns.getJob(jobIds.turn(run.id, turn));
      return job ? promote(job) : addTurn(run, turn);
    },
    async releaseTurn(runId, turn) {
      const job = await turns.getJob(jobIds.turn(runId, turn));
      if (job) await promote(job);
    },
    addStep,
    async addNextStep(run, stepId) {
      const options = { jobId: jobIds.step(stepId), ...jobPriority };
      await nextSteps.add('step', { run_id: run.id, step_id: stepId }, options);
    },
    wakeStep,
    async wakeDecided(run, stepId) {
      const job = new Job(steps, 'step', { run_id: run.id, step_id: stepId }, {}, jobIds.step(stepId));
      // The job was not read before, so a job not in the delayed set may be missing.
      await job.promote().catch((error: unknown) => {
        unlessNotDelayed(error);
        return wakeStep(run, stepId);
      });
    },
    async releaseStep(stepId) {
      const job = await steps.getJob(jobIds.step(stepId));
      if (job) await promote(job);
    },
    addWorkspace,
    async wakeWorkspace(runId) {
      const job = await workspaces.getJob(jobIds.workspace(runId));
      return job ? promote(job) : addWorkspace(runId);
    },
    async wakeTask(runId, taskId) {
      const job = await tasks.getJob(jobIds.task(taskId));
      if (job) return promote(job);
      await tasks.add('task', { run_id: runId, task_id: taskId }, { jobId: jobIds.task(taskId), ...jobPriority });
    },
    async wakeOversleeping(among) {
      const counts = await Promise.all(all.map((queue) => wakeOversleepingIn(redis, queue, { among, now: now() })));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await Promise.all(opened.map((queue) => queue.close()));
    },
  };
}

async function wakeOversleepingIn(
  redis: Redis,
  queue: Queue,
  { among, now }: { among: Parameters<Queues['wakeOversleeping']>[0]; now: number },
): Promise<number> {
  const key = queue.toKey('delayed');
  const from = (now + backoffHorizon) * scoreUnit;
  let woken = 0;
  for await (const ids of among(key)) {
    const tries = await Promise.all(ids.map((id) => redis.hmget(queue.toKey(id), 'atm', 'delay')));
    for (const [index, id] of ids.entries()) {
      const [attemptsMade, delay] = tries[index] ?? [];
      // A parked job has a long delay on purpose.
      if (!isInBackoff({ attemptsMade: Number(attemptsMade), delay: Number(delay) })) continue;
      const score = await redis.zscore(key, id);
      if (score === null || Number(score) < from) continue;
      await (await queue.getJob(id))?.promote().catch(unlessNotDelayed);
      woken += 1;
    }
  }
  return woken;
}

// The shared connection logs its errors once (redis/connect.ts). An 'error' event without a listener would end the process.
const ignoreHere = (): void => {};

async function promote(job: Job): Promise<void> {
  if (job.delay === 0 || isInBackoff(job)) return;
  await job.promote().catch(unlessNotDelayed);
}

function unlessNotDelayed(error: unknown): void {
  // Another process was faster: the job runs, waits to run, or is done.
  if (error instanceof Error && /not in the delayed state|Missing key for job/i.test(error.message)) return;
  throw error;
}
