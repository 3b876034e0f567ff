import { isSettled, isTaskOver, isTerminal } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readStep, readTask } from '../log/index.ts';
import type { StepJob, TaskJob, TurnJob, WorkspaceJob } from '../queues/queues.ts';
import { isWorkspaceDue } from '../reconcile/release-run.ts';

/**
 * Wakes a run again after an ignored wake-up. An add does nothing while a job with the same id exists. A job exists until BullMQ has
 * removed the job, after the handler's last look at the log. Call these functions when the job is gone.
 * @param seen the sequence number of the run on which the handler acted. A run without changes since then needs nothing, so no job repeats
 * endlessly
 */
export const wakeMissed = {
  async turn(deps: WorkerDeps, { run_id, turn }: TurnJob, seen: number): Promise<void> {
    const run = await readRun(deps.redis, run_id);
    // An undo lowers the number of turns.
    if (!isOpen(run, seen) || run.turn >= turn || run.awaits_calls !== undefined) return;
    await deps.queues.addTurn(run, turn);
  },

  async step(deps: WorkerDeps, { run_id, step_id }: StepJob, seen: number): Promise<void> {
    const found = await readStep(deps.redis, run_id, step_id);
    if (!isOpen(found?.run, seen) || found === undefined || isSettled(found.step.status)) return;
    await deps.queues.wakeStep(found.run, step_id);
  },

  async task(deps: WorkerDeps, { run_id, task_id }: TaskJob, seen: number): Promise<void> {
    const [run, task] = await Promise.all([readRun(deps.redis, run_id), readTask(deps.redis, run_id, task_id)]);
    if (run === undefined || run.seq === seen || task === undefined || isTaskOver(task.status)) return;
    await deps.queues.wakeTask(run_id, task_id);
  },

  async workspace(deps: WorkerDeps, { run_id }: WorkspaceJob, seen: number): Promise<void> {
    const run = await readRun(deps.redis, run_id);
    if (run === undefined || run.seq === seen || !isWorkspaceDue(run)) return;
    await deps.queues.wakeWorkspace(run_id);
  },
};

/** A resume wakes a paused run, and a retry wakes an ended run. */
const isOpen = (run: RunState | undefined, seen: number): run is RunState =>
  run !== undefined && run.seq !== seen && run.status !== 'paused' && !isTerminal(run.status);
