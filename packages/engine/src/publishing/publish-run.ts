import type { ConflictSummary, Problem, Validator, ValidatorResult } from '@holdpoint/contract';
import { requestApproval } from '../approvals/index.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { inspectTree } from '../fencing/inspect-tree.ts';
import { takeTree } from '../fencing/take-tree.ts';
import { abortReason, type JobContext, readError } from '../jobs/index.ts';
import { append, fromPayload, readSpec, toPayload } from '../log/index.ts';
import type { PlannedPublish, PublishCall } from '../ports/index.ts';
import { checkPullRequest, withPullRequest } from './pull-request.ts';

/**
 * Runs the run's validators on exactly the candidate of the publish, once per candidate: the result is in the log. The validators work on
 * the run's own tree. The tree is set to the candidate before, and back to the run's snapshot after.
 * @returns whether the publish may continue; when false, the log says why
 */
async function validateCandidate(
  deps: WorkerDeps,
  run: domain.RunState,
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
      scope: domain.scopeOf(run, spec),
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
    domain.recordValidation({ ...run, lease: epoch }, validated, failed && problemOf(failed)),
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
  run: domain.RunState,
  candidate: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  await deps.workspaces.killAll(run.id);
  if (run.validating === undefined && (await inspectTree(deps, run)).status === 'sound') {
    const begun = await append(deps, run.id, domain.recordValidating(run, candidate));
    if (!begun.ok) return undefined;
    const writer = domain.heads.validators(candidate);
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

/**
 * Advances a publish as far as possible now: plan, validators, approval, and only then the source. Each part is recorded before the next.
 * When
 * the source has changed, the publish is planned again: only validated and approved content is published.
 */
export async function publishRun(deps: WorkerDeps, run: domain.RunState, context: JobContext): Promise<void> {
  try {
    await publish(deps, run, context);
  } catch (error) {
    const reason = abortReason(context.signal);
    if (reason === 'lock-lost' || reason === 'shutdown') return;
    const { problem, retryable } = readError(error);
    if (retryable && !context.lastTry) throw error;
    deps.logger.error({ run_id: run.id, err: error }, 'a publish failed');
    await append(deps, run.id, domain.recordPublishFailed(run, problem));
  }
}

async function publish(deps: WorkerDeps, run: domain.RunState, context: JobContext): Promise<void> {
  if (run.publish_request?.only_validate) {
    if (!(await validateCandidate(deps, run, run.publish_request.snapshot, context))) return;
    await append(deps, run.id, domain.recordOnlyValidated());
    return;
  }
  const call = await callOf(deps, run);
  const planned = await deps.workspaces.planPublish(call);
  if (planned.secrets.length > 0) {
    await append(deps, run.id, domain.recordPublishFailed(run, secretsInFiles(planned.secrets)));
    return;
  }
  if (planned.conflicts.length > 0) return meetConflicts(deps, run, planned);
  if (!(await validateCandidate(deps, run, planned.candidate, context))) return;
  const held = await whyHeld(deps, run, planned);
  if (held !== undefined && !isReleased(run, planned, held)) {
    return park(deps, run, planned, { kind: 'publish', ...held });
  }
  const opening = { call, planned, signal: context.signal };
  await checkPullRequest(deps, opening);
  const result = await deps.workspaces.publish({ ...call, expect: planned.digest });
  // The source has moved: nothing was changed, and the caller looks again.
  if (result.status === 'moved') return;
  if (result.status === 'conflict') await append(deps, run.id, domain.recordConflict(run, result.conflicts));
  else await recordDone(deps, run, { ...opening, published: result.published });
}

async function recordDone(
  deps: WorkerDeps,
  run: domain.RunState,
  done: Parameters<typeof withPullRequest>[2],
): Promise<void> {
  await append(deps, run.id, domain.recordPublished(run, await withPullRequest(deps, run, done)));
}

const mostNamed = 20;

function secretsInFiles(found: PlannedPublish['secrets']): Problem {
  const files = found.slice(0, mostNamed).map(({ path, names }) => `${path} (${names.join(', ')})`);
  const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : '';
  return {
    code: 'secret_in_files',
    message: `Not published: the value of a secret is in ${files.join(', ')}${more}. The source is as it was.`,
    next: 'Remove the value from these files in a fork of this run, and publish that; or change the secret where it is used.',
  };
}

type Held = Pick<domain.Hold, 'reason' | 'confirm'>;

/** A policy that became stricter after an approval without a passkey holds the publish again. */
const isReleased = (
  { publish_release: release }: domain.RunState,
  { digest }: PlannedPublish,
  { confirm }: Held,
): boolean => release?.approved === digest && (confirm === undefined || release.confirmed === true);

const policyOnPublish = async (deps: WorkerDeps, run: domain.RunState) =>
  domain.holdsPublish(await readSpec(deps, run), deps.operatorPolicy?.());

/** Why a person has to decide first. A publish never leaves a file out silently. */
async function whyHeld(
  deps: WorkerDeps,
  run: domain.RunState,
  { unpublishable }: PlannedPublish,
): Promise<Held | undefined> {
  const held = await policyOnPublish(deps, run);
  if (unpublishable.length > 0) {
    const [first, ...more] = unpublishable;
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    const reason = `the run made or changed what cannot be published: ${first}${others}. Approve to publish without it`;
    return { reason, confirm: held?.confirm };
  }
  return held && { reason: `the ${held.by}'s policy holds a publish`, confirm: held.confirm };
}

async function callOf(deps: WorkerDeps, run: domain.RunState): Promise<PublishCall> {
  const { publish_request: request, publish_release: release } = run;
  if (request === undefined) throw new TypeError(`the run ${run.id} has no publish request`);
  const { snapshot, ...target } = request;
  const resolutions = release?.resolutions ? await fromPayload(deps.blobs, release.resolutions) : [];
  return { runId: run.id, snapshot, target, resolutions, scope: domain.scopeOf(run, await readSpec(deps, run)) };
}

/** Conflicts that a person can settle file by file wait for a decision. Any other conflict ends the publish. */
async function meetConflicts(deps: WorkerDeps, run: domain.RunState, planned: PlannedPublish): Promise<void> {
  const conflicts = planned.conflicts.map(({ resolvable, ...conflict }) => conflict);
  if (planned.conflicts.some(({ resolvable }) => !resolvable)) {
    await append(deps, run.id, domain.recordConflict(run, conflicts));
    return;
  }
  const files = conflicts.length === 1 ? 'one file' : `${conflicts.length} files`;
  const reason = `${files} changed at the source since the run began`;
  const confirm = (await policyOnPublish(deps, run))?.confirm;
  await park(deps, run, planned, { kind: 'conflict', reason, confirm, conflicts });
}

async function park(
  deps: WorkerDeps,
  run: domain.RunState,
  { digest, plan }: PlannedPublish,
  hold: Pick<domain.Hold, 'kind' | 'reason' | 'confirm'> & { conflicts?: readonly ConflictSummary[] },
): Promise<void> {
  const preview = await toPayload(deps.blobs, plan);
  await requestApproval(deps, run, async (open) =>
    domain.parkPublish(run, { conflicts: [], ...hold, ...(await open()), digest, preview }),
  );
}
