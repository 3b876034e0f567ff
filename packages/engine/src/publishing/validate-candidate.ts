import type { Validator, ValidatorResult } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { heads, type RunState, recordValidating, recordValidation, scopeOf } from '../domain/index.ts';
import { inspectTree } from '../fencing/inspect-tree.ts';
import { takeTree } from '../fencing/take-tree.ts';
import { abortReason, type JobContext } from '../jobs/index.ts';
import { append, readSpec, toPayload } from '../log/index.ts';

/**
 * Runs the run's validators on exactly the candidate of the publish, once per candidate: the result is in the log. The validators work on
 * the run's own tree. The tree is set to the candidate before, and back to the run's snapshot after.
 * @returns whether the publish may continue; when false, the log says why
 */
export async function validateCandidate(
  deps: WorkerDeps,
  run: RunState,
  candidate: string,
  { signal }: JobContext,
): Promise<boolean> {
  const spec = await readSpec(deps, run);
  const { validators, limits } = spec;
  if (validators.length === 0) return true;
  if (run.validated?.snapshot === candidate && run.validated.passed) return true;
  const epoch = await treeWith(deps, run, candidate, signal);
  if (epoch === undefined) return false;
  const results: ValidatorResult[] = [];
  for (const validator of validators) {
    const result = await deps.executor.validate(cutAtCeiling(deps, validator), {
      runId: run.id,
      epoch,
      limits: limits.command ?? {},
      scope: scopeOf(run, spec),
      signal,
    });
    if (abortReason(signal) !== undefined) throw new Error('interrupted while a validator ran');
    results.push(result);
    if (result.status !== 'passed') break;
  }
  await deps.workspaces.killAll(run.id);
  await deps.workspaces.restore({ runId: run.id, epoch, snapshot: run.snapshot ?? '' });
  const failed = results.find(({ status }) => status !== 'passed');
  const validated = { snapshot: candidate, results: await toPayload(deps.blobs, results) };
  const appended = await append(
    deps,
    run.id,
    recordValidation({ ...run, lease: epoch }, validated, failed && problemOf(failed)),
  );
  return appended.ok && failed === undefined;
}

/** A validator is a command, so the operator's cap on wall time applies. */
function cutAtCeiling({ ceilings }: Pick<WorkerDeps, 'ceilings'>, validator: Validator): Validator {
  const most = ceilings?.step_wall_s ?? validator.timeout_s;
  return { ...validator, timeout_s: Math.min(validator.timeout_s, most) };
}

/**
 * Sets the tree to the candidate. Makes a new tree when the tree differs from the log, or when the last worker never recorded the outcome
 * of its validation: this worker may only be frozen.
 */
async function treeWith(
  deps: WorkerDeps,
  run: RunState,
  candidate: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  await deps.workspaces.killAll(run.id);
  if (run.validating === undefined && (await inspectTree(deps, run)).status === 'sound') {
    const begun = await append(deps, run.id, recordValidating(run, candidate));
    if (!begun.ok) return undefined;
    const writer = heads.validators(candidate);
    await deps.workspaces.admit({ runId: run.id, epoch: run.lease, after: run.head, writer });
    await deps.workspaces.restore({ runId: run.id, epoch: run.lease, snapshot: candidate });
    return run.lease;
  }
  return takeTree(deps, run, { snapshot: candidate, signal });
}

const problemOf = ({ name, status, exit_code, detail }: ValidatorResult) => ({
  code: 'validator_failed',
  message: `Not published: the validator ${name} ${status.replace('_', ' ')} (${detail ?? `exit code ${exit_code}`}). The source is as it was.`,
  next: 'Read its output (GET /v1/runs/{id}/validation), fix the cause in a fork of this run, and publish that.',
});
