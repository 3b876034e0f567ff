import { isDeepStrictEqual } from 'node:util';
import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { decidePublish, expirePublish } from '../domain/transitions/publication.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { untrackApproval } from '../log/indexes.ts';
import type { DecisionRequest } from './decide-approval.ts';
import type { PublishApproval } from './view-approval.ts';

/**
 * Records a decision about a parked publish. With `edit` the arguments are `{resolutions: […]}`, in the workspace room's shape.
 * @returns false: somebody else changed the run meanwhile, look again
 * @throws EngineError `already_decided`, `action_changed`, `decision_not_allowed`, `invalid_decision`
 */
export async function decidePublication(
  deps: EngineDeps,
  view: PublishApproval,
  request: DecisionRequest,
): Promise<boolean> {
  const { run, approval } = view;
  if (approval.status !== 'pending') return settledAlready(deps, view, request);
  if (Date.parse(approval.request.expires_at) <= deps.now()) {
    const appended = await append(deps, run.id, expirePublish(run, approval));
    if (!appended.ok) return false;
    await afterwards(deps, view);
    throw new EngineError('already_decided', `the approval ${approval.id} expired at ${approval.request.expires_at}`);
  }
  check(view, request);
  const { decision: kind, by, message, args } = request;
  const decision = {
    kind,
    digest: view.digest,
    by,
    ...(message === undefined ? {} : { message }),
    ...(args === undefined ? {} : { resolutions: await toPayload(deps.blobs, args.resolutions) }),
  };
  const appended = await append(deps, run.id, decidePublish(run, approval, decision));
  if (appended.ok) await afterwards(deps, view);
  return appended.ok;
}

function check({ approval, digest }: PublishApproval, request: DecisionRequest): void {
  if (request.action_digest !== digest) {
    throw new EngineError('action_changed', `the digest of this action is ${digest}`);
  }
  const allowed = approval.request.allowed_decisions;
  if (!allowed.includes(request.decision)) {
    throw new EngineError('decision_not_allowed', `this approval takes ${allowed.join(', ')}`);
  }
  const isEdit = request.decision === 'edit';
  if (isEdit !== (request.args !== undefined) || (isEdit && !Array.isArray(request.args?.resolutions))) {
    throw new EngineError('invalid_decision', 'args belong to the decision edit, which needs {"resolutions": […]}');
  }
}

/** The same decision again gets the answer of the first; anything else is too late. */
async function settledAlready(
  deps: EngineDeps,
  { approval }: PublishApproval,
  request: DecisionRequest,
): Promise<true> {
  const { decision } = approval;
  const resolved = decision?.args === undefined ? undefined : await fromPayload(deps.blobs, decision.args);
  const same =
    decision?.decision === request.decision &&
    decision.action_digest === request.action_digest &&
    decision.message === request.message &&
    isDeepStrictEqual(resolved, request.args?.resolutions);
  if (same) return true;
  throw new EngineError('already_decided', `the approval ${approval.id} is ${approval.status}`);
}

/** The decision is in the log: the rest is wake-ups, which the sweeper sends too. */
async function afterwards(deps: EngineDeps, { run, approval }: PublishApproval): Promise<void> {
  try {
    await untrackApproval(deps.redis, approval.id);
    await deps.queues.wakeWorkspace(run.id);
  } catch (error) {
    deps.logger.warn({ run_id: run.id, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}
