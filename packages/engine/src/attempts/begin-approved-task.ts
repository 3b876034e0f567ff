import type { NewEvent, Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import {
  type AttemptResult,
  deferAttempt,
  endTask,
  type RunState,
  type StepState,
  scopeOf,
  settleBegun,
  settleCanceled,
  type TaskState,
} from '../domain/index.ts';
import { append, readSpec, readStep } from '../log/index.ts';
import { isBound } from './begin-approved.ts';
import { appendWithTask } from './begin-task.ts';

/** The call settles when its command has begun or ended, whenever that is. */
const longestWaitMs = 365 * 24 * 3600 * 1000;

/** The event of a background command that a person approved names the files that were shown. */
export function bindTask(step: StepState, created: NewEvent): NewEvent | undefined {
  const { approved_snapshot } = step;
  if (created.type !== 'task.created' || created.data.kind !== 'shell') return undefined;
  if (!isBound(step) || approved_snapshot === undefined) return undefined;
  return { ...created, data: { ...created.data, approved_snapshot } };
}

/**
 * Records that the command is to begin. Its call stays open and keeps the place of the writer, so no later call changes the files before the
 * command runs.
 */
export function beginApprovedTask(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { created, result }: { created: NewEvent; result: AttemptResult },
): ReturnType<typeof appendWithTask> {
  if (created.type !== 'task.created') throw new TypeError(`${created.type} begins no task`);
  const { attempt, value, capabilities, duration_ms, snapshot } = result;
  const begins = {
    value,
    capabilities,
    ...{ duration_ms, skipped: snapshot?.skipped ?? 0 },
  };
  const until = new Date(deps.now() + longestWaitMs).toISOString();
  const transition = deferAttempt(step.id, attempt, { until, taskId: created.data.task_id, created, begins });
  return appendWithTask(deps, run, created, transition);
}

/**
 * Whether the files are still those that were approved. The place of the writer kept every call away from them, and no other command was open.
 * A new tree has the run's snapshot, and a command whose worker ended it may have written last.
 */
export async function meetsApproved(deps: WorkerDeps, run: RunState, task: TaskState): Promise<boolean> {
  const { approved_snapshot: decided } = task.about;
  if (decided === undefined) return true;
  const { snapshot: parent = '' } = run;
  if (parent !== decided) return false;
  if (run.uncaptured === 0) return true;
  const message = `before a background command (${task.id})`;
  const scope = scopeOf(run, await readSpec(deps, run));
  const input = { runId: run.id, epoch: run.lease, parent, decided, message, scope };
  return (await deps.workspaces.differenceFrom(input)) === undefined;
}

/** Ends a command that would meet other files than those that were approved. */
export const refuseChanged = (task: TaskState) => endTask(task, { status: 'failed', exit_code: null, reason: changed });

const changed: Problem = {
  code: 'EACTIONCHANGED',
  message: 'The files changed after the command was approved, so it did not begin.',
  next: 'Make the call again: a person decides on the files as they are now.',
};

/** Settles the call that asked for the command. Does nothing when the call has settled. */
export async function settleCall(deps: WorkerDeps, task: Pick<TaskState, 'about'>, runId: string): Promise<void> {
  for (;;) {
    const found = await readStep(deps.redis, runId, task.about.step_id);
    const begins = found?.step.status === 'deferred' ? found.step.deferred?.begins : undefined;
    if (found === undefined || begins === undefined) return;
    const { run, step } = found;
    const transition = step.cancel === undefined ? settleBegun(run, step, begins) : settleCanceled(run, step);
    if ((await append(deps, runId, transition)).ok) return;
  }
}
