import { ForbiddenChange, type NewEvent, nativeToolset, type Problem, type RunSpec } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import { type Open, previewCall, requestApproval } from '../approvals/index.ts';
import { dropShown, showsResult } from '../approvals/result-preview.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { type JobContext, pauseOrRetry } from '../jobs/index.ts';
import { append, readApproval, readSpec, readStep } from '../log/index.ts';
import type { Difference } from '../ports/index.ts';
import { appendWithTask } from '../tasks/begin-task.ts';

/** Whether a person approved the call on files that were shown. A call that only reads changes nothing, and runs on the current files. */
export const isBound = (step: domain.StepState): boolean =>
  step.effect !== 'read' && step.approved_snapshot !== undefined && !domain.asksOutside(step);

/**
 * Runs an approved call while the run's background commands are frozen, from the comparison of the files until outcome and snapshot are
 * taken.
 * A command that writes between comparison and call would be the same race again.
 */
export async function whileFrozen<Result>(
  deps: WorkerDeps,
  run: domain.RunState,
  context: JobContext,
  act: () => Promise<Result>,
): Promise<Result | 'lost'> {
  let began = false;
  const beginning = () => {
    began = true;
    return act();
  };
  try {
    return await deps.workspaces.withFrozen(run.id, beginning);
  } catch (error) {
    if (began) throw error;
    return pauseOrRetry(deps, run, error, context);
  }
}

/**
 * Compares the current files with the approved files while the background commands are frozen. When they differ, nothing runs: the current
 * files become the run's snapshot, and the step is parked again under their digest. No comparison is needed while `uncaptured` is 0. In
 * this state every earlier writer of the tree was captured: an attempt that settled with a snapshot (an attempt without a snapshot sets
 * `restore` to due and gets a new tree), or a captured background command. A command that begins now changes `head`, so the append that
 * starts the attempt is refused. So the tree equals `run.snapshot`.
 */
export async function confirmFiles(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<'same' | 'again' | 'lost'> {
  const { approved_snapshot: decided } = step;
  const { snapshot: parent = '' } = run;
  if (!isBound(step) || decided === undefined) return 'same';
  const spec = await readSpec(deps, run);
  if (run.uncaptured === 0 && parent === decided && !hasOwnTools(spec)) return confirmUse(deps, run, step, context);
  // Another writer has the tree: the append that starts the attempt is refused, and the caller compares again.
  if ((run.writer !== '' && run.writer !== step.id) || run.merging !== undefined) return 'same';
  let found: Difference | undefined;
  try {
    found = await deps.workspaces.differenceFrom({
      runId: run.id,
      epoch: run.lease,
      ...{ parent, decided, scope: domain.scopeOf(run, spec) },
      message: `before ${step.call.tool} (${step.id})`,
      forbids: forbiddenPaths(spec),
    });
  } catch (error) {
    if (!(error instanceof ForbiddenChange)) return pauseOrRetry(deps, run, error, context);
    // A background command changed protected files. The command ends with its tree, and none of its changes remain.
    await append(deps, run.id, domain.distrustTree(run, { reason: 'forbidden_change', detail: error.message }));
    return 'lost';
  }
  if (found === undefined) return confirmUse(deps, run, step, context);
  await parkAgain(deps, run, step, found, context);
  return 'again';
}

/** An agent with its own tools can write between two snapshots, as a background command can. */
const hasOwnTools = ({ goal }: RunSpec): boolean =>
  goal.planner === 'model' && nativeToolset(goal.outside_agent) !== undefined;

/**
 * Compares the call's current input from a sub-agent with the shown input. The call may have been shown, or edited, before its sub-agent
 * ended.
 */
async function confirmUse(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<'same' | 'again' | 'lost'> {
  if (run.agents === 0 || step.approval === undefined) return 'same';
  const approval = await readApproval(deps.redis, run.id, step.approval);
  // The snapshot below a shown result has just been compared.
  if (approval === undefined || approval.request.kind !== 'action' || showsResult(approval)) return 'same';
  const { snapshot = '' } = run;
  let uses: string | undefined;
  try {
    ({ uses } = await previewCall(deps, run, step, context.signal));
  } catch (error) {
    return pauseOrRetry(deps, run, error, context);
  }
  if (uses === approval.request.uses) return 'same';
  const found = { snapshot, files_changed: 0, skipped: 0, changes: [], total: 0, uses: uses ?? '' };
  await parkAgain(deps, run, step, found, context);
  return 'again';
}

async function parkAgain(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  found: Difference & { uses?: string },
  { signal }: JobContext,
): Promise<void> {
  const decided = step.approval === undefined ? undefined : await readApproval(deps.redis, run.id, step.approval);
  if (decided === undefined) throw new TypeError(`the approved step ${step.id} has no approval`);
  // The previews of an indeterminate attempt and of a question do not depend on the files.
  const shown =
    decided.request.kind !== 'action'
      ? { preview: decided.request.preview, uses: decided.request.uses, reaches: decided.request.reaches }
      : await previewCall(
          deps,
          { ...run, snapshot: found.snapshot },
          step,
          signal,
          showsResult(decided) ? 'run' : undefined,
        );
  const build = async (open: Open) =>
    domain.askAgain(run, step, { decided, found, shown, ...(await open(decided.request)) });
  if (!(await requestApproval(deps, run, build))) return;
  if (showsResult(decided)) await dropShown(deps, run, decided);
  const fields = { run_id: run.id, step_id: step.id, files_changed: found.files_changed };
  deps.logger.info(fields, 'the files changed after a call was approved: it asks again');
}

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
