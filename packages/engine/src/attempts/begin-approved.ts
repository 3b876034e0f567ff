import { previewCall } from '../approvals/preview-call.ts';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/state.ts';
import { askAgain } from '../domain/transitions/ask-again.ts';
import { pauseRun } from '../domain/transitions/run-life.ts';
import { readError } from '../jobs/infrastructure-error.ts';
import { abortReason, type JobContext } from '../jobs/job.ts';
import { append } from '../log/append.ts';
import { trackApproval, untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readApproval } from '../log/read-state.ts';
import type { Difference } from '../ports.ts';

/** Whether a person decided that the call runs, on files that were shown. A call that only reads changes nothing, and runs on the files as they are. */
export const isBound = (step: StepState): boolean => step.effect !== 'read' && step.approved_snapshot !== undefined;

/**
 * Runs an approved call while the run's background commands stand still, from the look at the files until its outcome and snapshot are taken:
 * a command that wrote between the look and the call would be the same race again. Any other call just runs.
 */
export async function standingStill<Result>(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
  act: () => Promise<Result>,
): Promise<Result | 'lost'> {
  if (!isBound(step)) return act();
  let began = false;
  const beginning = () => {
    began = true;
    return act();
  };
  try {
    return await deps.workspaces.withFrozen(run.id, beginning);
  } catch (error) {
    if (began) throw error;
    return pauseOrThrow(deps, run, error, context);
  }
}

/**
 * Compares the files with those that were decided on, while the background commands stand still. When they differ, nothing runs: the run's
 * snapshot becomes what was found, and the step is parked again under the digest of that.
 *
 * No look is needed while `uncaptured` is 0. Then every writer that was let at this tree was an attempt that settled with a snapshot (one that
 * did not leaves `restore` due, and a new tree), or a background command that was captured; and a command that begins now changes `head`, so
 * the append that starts the attempt is refused. So the tree is what `run.snapshot` says.
 */
export async function confirmFiles(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
): Promise<'same' | 'again' | 'lost'> {
  const { approved_snapshot: decided } = step;
  const { snapshot: parent = '' } = run;
  if (!isBound(step) || decided === undefined) return 'same';
  if (run.uncaptured === 0 && parent === decided) return confirmUse(deps, run, step, context);
  // Another writer has the tree: the append that starts the attempt is refused, and the caller looks again.
  if (run.writer !== '' && run.writer !== step.id) return 'same';
  let found: Difference | undefined;
  try {
    found = await deps.workspaces.differenceFrom({
      runId: run.id,
      epoch: run.lease,
      ...{ parent, decided },
      message: `before ${step.call.tool} (${step.id})`,
    });
  } catch (error) {
    return pauseOrThrow(deps, run, error, context);
  }
  if (found === undefined) return confirmUse(deps, run, step, context);
  await parkAgain(deps, run, step, found, context);
  return 'again';
}

/** Compares what the call takes from a sub-agent with what was shown. A call was perhaps shown, or edited, before its sub-agent ended. */
async function confirmUse(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  context: JobContext,
): Promise<'same' | 'again' | 'lost'> {
  if (run.agents === 0 || step.approval === undefined) return 'same';
  const approval = await readApproval(deps.redis, run.id, step.approval);
  if (approval === undefined || approval.request.kind === 'indeterminate') return 'same';
  const { snapshot = '' } = run;
  let uses: string | undefined;
  try {
    ({ uses } = await previewCall(deps, run, step, context.signal));
  } catch (error) {
    return pauseOrThrow(deps, run, error, context);
  }
  if (uses === approval.request.uses) return 'same';
  const found = { snapshot, files_changed: 0, skipped: 0, changes: [], total: 0, uses: uses ?? '' };
  await parkAgain(deps, run, step, found, context);
  return 'again';
}

async function parkAgain(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  found: Difference & { uses?: string },
  { signal }: JobContext,
): Promise<void> {
  const decided = step.approval === undefined ? undefined : await readApproval(deps.redis, run.id, step.approval);
  if (decided === undefined) throw new TypeError(`the approved step ${step.id} has no approval`);
  const { policy } = await readSpec(deps, run);
  // What is known of an attempt in doubt does not depend on the files.
  const shown =
    decided.request.kind === 'indeterminate'
      ? { preview: decided.request.preview, uses: decided.request.uses }
      : await previewCall(deps, run, step, signal);
  const approvalId = deps.newId('approval');
  await trackApproval(deps.redis, approvalId, run.id);
  const expiresAt = new Date(deps.now() + policy.approval_timeout_s * 1000).toISOString();
  const transition = askAgain(run, step, {
    ...{ decided, approvalId, expiresAt, found },
    shown,
  });
  const appended = await append(deps, run.id, transition);
  if (!appended.ok) return untrackApproval(deps.redis, approvalId);
  const fields = { run_id: run.id, step_id: step.id, files_changed: found.files_changed };
  deps.logger.info(fields, 'the files changed after a call was approved: it asks again');
}

/** As of a tree that cannot be looked at: the queue tries again, and when that makes no sense the run pauses. */
async function pauseOrThrow(deps: WorkerDeps, run: RunState, error: unknown, context: JobContext): Promise<'lost'> {
  const { problem, retryable } = readError(error);
  if (abortReason(context.signal) !== undefined || (retryable && !context.lastTry)) throw error;
  await append(deps, run.id, pauseRun(run, problem));
  return 'lost';
}
