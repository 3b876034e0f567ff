import { dueForPreview } from '../approvals/result-preview.ts';
import type { WorkerDeps } from '../deps.ts';
import { readRun, readStep } from '../log/index.ts';
import type { StepJob, TurnJob, WorkspaceJob } from '../queues/queues.ts';
import { isWaitOver } from './release-run.ts';

/** False when the sleeping job of a step must wake early. Call this after the job was put to sleep. */
export async function mayStillSleep(deps: WorkerDeps, job: StepJob): Promise<boolean> {
  const found = await readStep(deps.redis, job.run_id, job.step_id);
  if (found?.step.status === 'deferred') return !(await isWaitOver(deps, found.run, found.step));
  if (found?.step.status === 'parked') return (await dueForPreview(deps, found.run, found.step)) === undefined;
  return found?.step.status === 'indeterminate';
}

/**
 * Like `mayStillSleep`, for a turn job whose run waits for a model or a place. A changed run may have been resumed, paused or canceled. A
 * run that got its place before the job slept also returns false.
 */
export async function mayTurnSleep(
  deps: WorkerDeps,
  { run_id }: TurnJob,
  { seen, awaits }: { seen?: number; awaits?: 'place' },
): Promise<boolean> {
  if ((await readRun(deps.redis, run_id))?.seq !== seen) return false;
  return awaits === undefined || (await deps.admission?.standing(run_id))?.state === 'line';
}

/** Like `mayStillSleep`, for the job of a publish that waits for a decision. */
export async function mayPublicationSleep(deps: WorkerDeps, job: WorkspaceJob): Promise<boolean> {
  return (await readRun(deps.redis, job.run_id))?.publication === 'parked';
}
