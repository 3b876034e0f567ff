import { type ConflictSummary, resolutionSchema } from '@holdpoint/contract';
import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import { holdsPublish } from '../domain/judge-call.ts';
import type { RunState } from '../domain/state.ts';
import {
  expirePublish,
  type Hold,
  parkPublish,
  recordConflict,
  recordPublished,
  recordPublishFailed,
} from '../domain/transitions/publication.ts';
import { readError } from '../jobs/infrastructure-error.ts';
import { abortReason, type JobContext, type JobEnd } from '../jobs/job.ts';
import { append } from '../log/append.ts';
import { trackApproval, untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readApproval } from '../log/read-state.ts';
import type { PlannedPublish, PublishCall } from '../ports.ts';
import { validateCandidate } from './validate-candidate.ts';

/**
 * Brings a publish as far as it can go now: plan, validators, approval, and only then the source. Each part is recorded before the
 * next; a plan that no longer fits the source is made anew, so what is published is what was validated and approved.
 */
export async function publishRun(deps: WorkerDeps, run: RunState, context: JobContext): Promise<void> {
  try {
    await publish(deps, run, context);
  } catch (error) {
    const reason = abortReason(context.signal);
    if (reason === 'lock-lost' || reason === 'shutdown') return;
    const { problem, retryable } = readError(error);
    if (retryable && !context.lastTry) throw error;
    deps.logger.error({ run_id: run.id, err: error }, 'a publish failed');
    await append(deps, run.id, recordPublishFailed(run, problem));
  }
}

async function publish(deps: WorkerDeps, run: RunState, context: JobContext): Promise<void> {
  const call = await callOf(deps, run);
  const planned = await deps.workspaces.planPublish(call);
  if (planned.conflicts.length > 0) return meetConflicts(deps, run, planned);
  if (!(await validateCandidate(deps, run, planned.candidate, context))) return;
  const reason = await reasonToHold(deps, run, planned);
  if (reason !== undefined && run.publish_release?.approved !== planned.digest) {
    return park(deps, run, planned, { kind: 'publish', reason });
  }
  const result = await deps.workspaces.publish({ ...call, expect: planned.digest });
  // Moved: nothing was changed, and the caller looks again.
  if (result.status === 'moved') return;
  const outcome =
    result.status === 'published' ? recordPublished(run, result.published) : recordConflict(run, result.conflicts);
  await append(deps, run.id, outcome);
}

/** Why a person has to decide first. Something that cannot be published is never missing without a word. */
async function reasonToHold(
  deps: WorkerDeps,
  run: RunState,
  { unpublishable }: PlannedPublish,
): Promise<string | undefined> {
  const spec = await readSpec(deps, run);
  if (unpublishable.length > 0) {
    const [first, ...more] = unpublishable;
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return `the run made or changed what cannot be published: ${first}${others}. Approve to publish without it`;
  }
  const by = holdsPublish(spec, deps.operatorPolicy);
  return by && `the ${by}'s policy holds a publish`;
}

async function callOf(deps: WorkerDeps, run: RunState): Promise<PublishCall> {
  const { publish_request: request, publish_release: release } = run;
  if (request === undefined) throw new TypeError(`the run ${run.id} has no publish request`);
  const { snapshot, ...target } = request;
  const resolutions =
    release?.resolutions === undefined
      ? []
      : resolutionSchema.array().parse(await fromPayload(deps.blobs, release.resolutions));
  return { runId: run.id, snapshot, target, resolutions };
}

/** Conflicts that a person can settle file by file wait for that; with any other there is nothing to decide here. */
async function meetConflicts(deps: WorkerDeps, run: RunState, planned: PlannedPublish): Promise<void> {
  const conflicts = planned.conflicts.map(({ resolvable, ...conflict }) => conflict);
  if (planned.conflicts.some(({ resolvable }) => !resolvable)) {
    await append(deps, run.id, recordConflict(run, conflicts));
    return;
  }
  const files = conflicts.length === 1 ? 'one file' : `${conflicts.length} files`;
  const reason = `${files} changed at the source since the run began`;
  await park(deps, run, planned, { kind: 'conflict', reason, conflicts });
}

async function park(
  deps: WorkerDeps,
  run: RunState,
  planned: PlannedPublish,
  hold: Pick<Hold, 'kind' | 'reason'> & { conflicts?: readonly ConflictSummary[] },
): Promise<void> {
  const { policy } = await readSpec(deps, run);
  const approvalId = deps.newId('approval');
  await trackApproval(deps.redis, approvalId, run.id);
  const appended = await append(
    deps,
    run.id,
    parkPublish(run, {
      conflicts: [],
      ...hold,
      approvalId,
      digest: planned.digest,
      preview: await toPayload(deps.blobs, planned.plan),
      expiresAt: new Date(deps.now() + policy.approval_timeout_s * 1000).toISOString(),
    }),
  );
  if (!appended.ok) await untrackApproval(deps.redis, approvalId);
}

/** A parked publish holds no worker: its job sleeps until somebody decides, or the deadline. */
export async function sleepOrExpirePublish(deps: WorkerDeps, run: RunState): Promise<JobEnd | 'again'> {
  const id = run.publish_approval;
  const approval = id === undefined ? undefined : await readApproval(deps.redis, run.id, id);
  if (approval?.status !== 'pending') return 'again';
  const until = Date.parse(approval.request.expires_at);
  if (until > deps.now()) return { kind: 'sleep', until };
  const appended = await append(deps, run.id, expirePublish(run, approval));
  if (appended.ok) await untrackApproval(deps.redis, approval.id);
  return 'again';
}
