import { type EventOf, isSettled, isTaskOver, isTerminal } from '@holdpoint/contract';
import type { Job } from 'bullmq';
import { isPreviewDue } from '../approvals/result-preview.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { lastEventAt, readApproval, readStep, readTask, readTasks, readTurnSteps, stateKey } from '../log/index.ts';
import { isInBackoff, jobIds, longestNapMs, type StepJob } from '../queues/queues.ts';
import { isDue } from './ensure-tasks.ts';
import { isWaitOver, isWorkspaceDue } from './release-run.ts';
import { unlistedApprovals } from './unlisted-approvals.ts';

export type Finding = EventOf<'run.repaired'>['data'];

/**
 * Finds the stuck parts of a run: the run's state requires work without a job that will do the work. Cause: a process died between two
 * writes, or Redis lost a queue.
 */
export async function diagnose(deps: WorkerDeps, run: domain.RunState): Promise<Finding[]> {
  if (!(await isQuiet(deps, run.id))) return [];
  const isOpen = run.status === 'running' || run.status === 'waiting';
  const found: Finding[] = [];
  if (run.status === 'queued' && !(await hasTurnJob(deps, run))) found.push({ class: 'queued_without_job' });
  if (await waitsForFreePlace(deps, run)) found.push({ class: 'waiting_for_free_place' });
  if (isWorkspaceDue(run) && !(await deps.queues.workspaces.getJob(jobIds.workspace(run.id)))) {
    found.push({ class: 'workspace_without_job' });
  }
  if (isOpen && run.restore !== 'due') {
    const isAtRest = run.closing !== undefined || run.awaits_calls !== undefined;
    if (run.open === 0 && !isAtRest) {
      if (!(await hasTurnJob(deps, run))) found.push({ class: 'turn_without_successor' });
      else if (await hasOrphanedTurn(deps, run)) found.push({ class: 'orphaned_delayed_job' });
    }
    for (const step of await readTurnSteps(deps.redis, run)) found.push(...(await lookAtStep(deps, run, step)));
  }
  for (const { stepId } of await unlistedApprovals(deps, run)) {
    found.push({ class: 'approval_not_indexed', subject: stepId });
  }
  if (run.open_tasks > 0 && run.status !== 'paused') {
    for (const task of await readTasks(deps.redis, run.id)) {
      if (isDue(run, task) && !(await deps.queues.tasks.getJob(jobIds.task(task.id)))) {
        found.push({ class: 'task_without_job', subject: task.id });
      }
    }
  }
  if (run.parent !== undefined && isTerminal(run.status)) {
    const task = await readTask(deps.redis, run.parent.run_id, run.parent.task_id);
    if (task && !isTaskOver(task.status) && task.status !== 'capturing')
      found.push({ class: 'parent_not_notified', subject: task.id });
  } else if (run.parent !== undefined) {
    const task = await readTask(deps.redis, run.parent.run_id, run.parent.task_id);
    const isReported =
      task === undefined ||
      isTaskOver(task.status) ||
      domain.isSameBlockage(task.report, domain.reportOf(run, deps.now()));
    if (!isReported) found.push({ class: 'wait_not_reported', subject: task.id });
  }
  return found;
}

const hasTurnJob = async (deps: WorkerDeps, run: domain.RunState): Promise<boolean> =>
  (await deps.queues.turns.getJob(jobIds.turn(run.id, run.turn + 1))) !== undefined;

/** Whether the job of the due turn sleeps, left by a rewound run or after a lost wake-up. A nap ends without a wake-up. */
export async function hasOrphanedTurn({ queues }: WorkerDeps, run: domain.RunState): Promise<boolean> {
  const isOpen = run.status === 'running' || run.status === 'waiting';
  const isAtRest = run.closing !== undefined || run.awaits_calls !== undefined || domain.isWaitingForModel(run);
  if (!isOpen || run.restore === 'due' || run.open > 0 || isAtRest) return false;
  const job = await queues.turns.getJob(jobIds.turn(run.id, run.turn + 1));
  if (job === undefined || !(await isAsleep(job))) return false;
  return job.delay > longestNapMs;
}

/**
 * Whether a run sleeps in line although it has a place, or could get a place. Before its first turn a sleeping run has to be in line, so a
 * missing place in line is a fault. Later the run's job may also sleep for its model.
 */
export async function waitsForFreePlace({ queues, admission }: WorkerDeps, run: domain.RunState): Promise<boolean> {
  const isNext = run.status === 'queued' || (run.status === 'running' && run.open === 0 && run.restore !== 'due');
  if (admission === undefined || run.parent !== undefined || !isNext) return false;
  const job = await queues.turns.getJob(jobIds.turn(run.id, run.turn + 1));
  if (job === undefined || !(await isAsleep(job))) return false;
  const { state } = await admission.standing(run.id);
  return state === 'stale' || state === 'free' || (state === 'none' && run.status === 'queued');
}

async function lookAtStep(deps: WorkerDeps, run: domain.RunState, step: domain.StepState): Promise<Finding[]> {
  const job: Job | undefined = await deps.queues.steps.getJob(jobIds.step(step.id));
  const subject = step.id;
  switch (step.status) {
    case 'queued':
      if (!job) return [{ class: 'queued_without_job', subject }];
      return (await isAsleep(job)) ? [{ class: 'decided_but_parked', subject }] : [];
    case 'running':
      return job ? [] : [{ class: 'running_without_heartbeat', subject }];
    case 'deferred':
      if (!job) return [{ class: 'queued_without_job', subject }];
      return (await isWaitOver(deps, run, step)) && (await isAsleep(job))
        ? [{ class: 'decided_but_parked', subject }]
        : [];
    case 'parked':
    case 'indeterminate': {
      if (!job) return [{ class: 'queued_without_job', subject }];
      const approval = step.approval === undefined ? undefined : await readApproval(deps.redis, run.id, step.approval);
      if (approval?.status !== 'pending') return [];
      if (isPreviewDue(run, approval) && (await isAsleep(job))) return [{ class: 'decided_but_parked', subject }];
      const expires = Date.parse(approval.request.expires_at);
      // A job that is awake waits for a worker: all workers may be busy.
      return expires < deps.now() - graceMs && (await isAsleep(job)) ? [{ class: 'expired', subject }] : [];
    }
    default:
      return [];
  }
}

const isAsleep = async (job: Job): Promise<boolean> => !isInBackoff(job) && (await job.isDelayed());

/**
 * Finds sleeping step jobs of settled steps among the given delayed jobs: the process that decided or undid the step died before the
 * wake-up.
 */
export async function orphanedJobs(
  deps: WorkerDeps,
  ids: readonly string[],
): Promise<{ run: domain.RunState; stepId: string }[]> {
  const jobs = await Promise.all(ids.map((id) => readAsleep(deps, id)));
  const asleep = jobs.filter((job) => job !== undefined);
  // A settled step has no status field (`domain/fields/step.ts`).
  const statuses = await Promise.all(
    asleep.map(({ run_id, step_id }) => deps.redis.hget(stateKey(run_id), domain.stepField.status(step_id).name)),
  );
  const over = asleep.filter((_, at) => statuses[at] === null);
  const found = await Promise.all(over.map(({ run_id, step_id }) => readStep(deps.redis, run_id, step_id)));
  const orphans: { run: domain.RunState; stepId: string }[] = [];
  for (const { run, step } of found.filter((one) => one !== undefined)) {
    if (isSettled(step.status) && (await isQuiet(deps, run.id))) orphans.push({ run, stepId: step.id });
  }
  return orphans;
}

/** The data of a job; undefined when the job was just added, waits for its next try, or is gone. */
async function readAsleep({ redis, queues, now }: WorkerDeps, id: string): Promise<StepJob | undefined> {
  const fields = await redis.hmget(queues.steps.toKey(id), 'data', 'timestamp', 'atm', 'delay');
  const [data, timestamp, attemptsMade, delay] = fields;
  if (data == null || now() - Number(timestamp) < graceMs) return undefined;
  if (isInBackoff({ attemptsMade: Number(attemptsMade), delay: Number(delay) })) return undefined;
  return JSON.parse(data) as StepJob;
}

/** A wake-up follows its append within milliseconds. A run without events for this long and without a wake-up is stuck. */
const graceMs = 5000;

async function isQuiet(deps: WorkerDeps, runId: string): Promise<boolean> {
  const changedAt = await lastEventAt(deps.redis, runId);
  return changedAt !== undefined && deps.now() - changedAt >= graceMs;
}
