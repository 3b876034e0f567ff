import type { NewEvent, Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, readSpec, readStep } from '../log/index.ts';
import { appendWithTask } from '../tasks/begin-task.ts';
import { isBound } from './begin-approved.ts';

/** The call settles when its command has begun or ended, after any time. */
const longestWaitMs = 365 * 24 * 3600 * 1000;

/** Adds the shown files to the event of an approved background command. */
export function bindTask(step: domain.StepState, created: NewEvent): NewEvent | undefined {
  const { approved_snapshot } = step;
  if (created.type !== 'task.created' || created.data.kind !== 'shell') return undefined;
  if (!isBound(step) || approved_snapshot === undefined) return undefined;
  return { ...created, data: { ...created.data, approved_snapshot } };
}

/**
 * Records that the command is about to begin. Its call stays open and keeps the writer's place, so no later call changes the files before
 * the command runs.
 */
export function beginApprovedTask(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { created, result }: { created: NewEvent; result: domain.AttemptResult },
): ReturnType<typeof appendWithTask> {
  if (created.type !== 'task.created') throw new TypeError(`${created.type} begins no task`);
  const { attempt, value, capabilities, duration_ms, snapshot } = result;
  const begins = {
    value,
    capabilities,
    ...{ duration_ms, skipped: snapshot?.skipped ?? 0 },
  };
  const until = new Date(deps.now() + longestWaitMs).toISOString();
  const transition = domain.deferAttempt(step.id, attempt, { until, taskId: created.data.task_id, created, begins });
  return appendWithTask(deps, run, created, transition);
}

/**
 * Whether the files still equal the approved files. The writer's place kept every call away from the files, and no other command was open.
 * But a
 * new tree has the run's snapshot, and a command that its worker ended may have written last.
 */
export async function meetsApproved(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState): Promise<boolean> {
  const { approved_snapshot: decided } = task.about;
  if (decided === undefined) return true;
  const { snapshot: parent = '' } = run;
  if (parent !== decided) return false;
  if (run.uncaptured === 0) return true;
  const message = `before a background command (${task.id})`;
  const scope = domain.scopeOf(run, await readSpec(deps, run));
  const input = { runId: run.id, epoch: run.lease, parent, decided, message, scope };
  return (await deps.workspaces.differenceFrom(input)) === undefined;
}

/** Ends a command whose files differ from the approved files. */
export const refuseChanged = (task: domain.TaskState) =>
  domain.endTask(task, { status: 'failed', exit_code: null, reason: changed });

const changed: Problem = {
  code: 'EACTIONCHANGED',
  message: 'The files changed after the command was approved, so it did not begin.',
  next: 'Make the call again: a person decides on the files as they are now.',
};

/** Settles the call that requested the command. No-op when the call has settled. */
export async function settleCall(
  deps: WorkerDeps,
  task: Pick<domain.TaskState, 'about'>,
  runId: string,
): Promise<void> {
  for (;;) {
    const found = await readStep(deps.redis, runId, task.about.step_id);
    const begins = found?.step.status === 'deferred' ? found.step.deferred?.begins : undefined;
    if (found === undefined || begins === undefined) return;
    const { run, step } = found;
    const transition =
      step.cancel === undefined ? domain.settleBegun(run, step, begins) : domain.settleCanceled(run, step);
    if ((await append(deps, runId, transition)).ok) return;
  }
}
