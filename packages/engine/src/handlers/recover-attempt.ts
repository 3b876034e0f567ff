import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/state.ts';
import { doubtAttempt, retryAttempt } from '../domain/transitions/attempt.ts';
import type { Problem } from '../domain/vocabulary.ts';
import { append } from '../log/append.ts';
import { trackApproval, untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';

/** An attempt that ended without an outcome, and why. */
export interface Doubt {
  reason: Problem;
  /** @default true */
  retryable?: boolean;
  error?: unknown;
}

/** After this many attempts without an outcome the run pauses, so that a step which kills its workers does not do so for ever. */
const attemptsPerRound = 5;

/**
 * What a lost attempt may have done decides: a `read` runs again; a `workspace` step runs again after the workspace was brought back to
 * the snapshot before it; an `external` one is parked until a person says what happened.
 */
export async function recoverAttempt(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  doubt: Doubt & { lastTry: boolean },
): Promise<void> {
  deps.logger.warn(
    { run_id: run.id, step_id: step.id, attempt: step.attempt, reason: doubt.reason, err: doubt.error },
    'an attempt ended without an outcome',
  );
  if (step.effect === 'external') return park(deps, run, step, doubt.reason);
  if (step.effect === 'workspace') await deps.workspaces.quiesce(run.id);
  const exhausted = doubt.lastTry || doubt.retryable === false || step.attempt % attemptsPerRound === 0;
  const pause = exhausted && (run.status === 'running' || run.status === 'waiting');
  await append(deps, run.id, retryAttempt(step, doubt.reason, { pause }));
}

async function park(deps: WorkerDeps, run: RunState, step: StepState, reason: Problem): Promise<void> {
  const { policy } = await readSpec(deps, run);
  const id = deps.newId('approval');
  await trackApproval(deps.redis, id, run.id);
  const expiresAt = new Date(deps.now() + policy.approval_timeout_s * 1000).toISOString();
  const appended = await append(deps, run.id, doubtAttempt(run, step, { id, expiresAt, reason }));
  if (!appended.ok) await untrackApproval(deps.redis, id);
}
