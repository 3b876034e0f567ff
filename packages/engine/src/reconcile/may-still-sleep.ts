import type { WorkerDeps } from '../deps.ts';
import { readRun, readStep } from '../log/index.ts';
import type { StepJob, TurnJob, WorkspaceJob } from '../queues/queues.ts';
import { isWaitOver } from './wait-over.ts';

/** False when the sleeping job of a step must wake early. Read this after the job was put to sleep. */
export async function mayStillSleep(deps: WorkerDeps, job: StepJob): Promise<boolean> {
  const found = await readStep(deps.redis, job.run_id, job.step_id);
  if (found?.step.status === 'deferred') return !(await isWaitOver(deps, found.run, found.step));
  return found !== undefined && (found.step.status === 'parked' || found.step.status === 'indeterminate');
}

/** The same for the job of a turn, whose run waits for a model. A run that has changed since may have been resumed, paused or canceled. */
export async function mayTurnSleep(
  deps: WorkerDeps,
  { run_id }: TurnJob,
  { seen }: { seen?: number },
): Promise<boolean> {
  return (await readRun(deps.redis, run_id))?.seq === seen;
}

/** The same for the job of a publish that waits for a decision. */
export async function mayPublicationSleep(deps: WorkerDeps, job: WorkspaceJob): Promise<boolean> {
  return (await readRun(deps.redis, job.run_id))?.publication === 'parked';
}
