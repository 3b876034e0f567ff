import { type Effect, isIdOf, type Json } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { type ApprovalState, actionDigest, EngineError, type RunState, type StepState } from '../domain/index.ts';
import { fromPayload, ownerOf, readApproval, readRun, readStepWithApproval } from '../log/index.ts';

interface Subject {
  run: RunState;
  approval: ApprovalState;
  /** The digest that a decision must name now. */
  digest: string;
}

/** An approval about a call, with the call's step and arguments. */
export interface StepApproval extends Subject {
  subject: 'step';
  step: StepState;
  /** The original arguments: edited arguments are in the approval's decision. */
  args: Json;
  effect: Effect;
}

/** An approval about the publish of a run. */
export interface PublishApproval extends Subject {
  subject: 'publication';
}

export type ApprovalView = StepApproval | PublishApproval;

/** @throws EngineError `approval_not_found` */
export async function viewApproval(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  approvalId: string,
): Promise<ApprovalView> {
  const place = await placeOf(deps.redis, approvalId);
  if (place === undefined) throw notFound(approvalId);
  if (place.stepId === undefined) return viewPublish(deps, place.runId, approvalId);
  const found = await readStepWithApproval(deps.redis, place.runId, { stepId: place.stepId, approvalId });
  if (!found) throw notFound(approvalId);
  const { approval } = found;
  const asked = approval.decision?.asked;
  const args = await fromPayload(deps.blobs, asked ?? found.step.args);
  const effect = asked === undefined ? found.step.effect : found.step.call.effect;
  const { toolset } = found.run.header;
  const digest =
    approval.decision?.action_digest ??
    actionDigest({
      toolset,
      tool: found.step.call.tool,
      args,
      snapshot: found.run.snapshot ?? '',
      uses: approval.request.uses,
      reaches: approval.request.reaches,
    });
  return { subject: 'step', ...found, args, effect, digest };
}

async function viewPublish(
  { redis }: Pick<EngineDeps, 'redis'>,
  runId: string,
  approvalId: string,
): Promise<PublishApproval> {
  const [run, approval] = await Promise.all([readRun(redis, runId), readApproval(redis, runId, approvalId)]);
  const digest = approval?.request.action_digest;
  if (!run || !approval || digest === undefined) throw notFound(approvalId);
  return { subject: 'publication', run, approval, digest };
}

interface Place {
  runId: string;
  /** Undefined for an approval about the publish of the run. */
  stepId: string | undefined;
}

/** By connection: the places of approvals that this process has seen. A place never changes, and a known place saves two reads of three. */
const seen = new WeakMap<Redis, Map<string, Place>>();
const mostKept = 10_000;

async function placeOf(redis: Redis, approvalId: string): Promise<Place | undefined> {
  const known = seen.get(redis) ?? new Map<string, Place>();
  seen.set(redis, known);
  const kept = known.get(approvalId);
  if (kept !== undefined) return kept;
  const runId = isIdOf('approval', approvalId) ? await ownerOf(redis, approvalId) : null;
  const approval = runId === null ? undefined : await readApproval(redis, runId, approvalId);
  if (!approval || runId === null) return undefined;
  const place = { runId, stepId: approval.request.step_id };
  known.set(approvalId, place);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
  return place;
}

const notFound = (id: string): EngineError => new EngineError('approval_not_found', `there is no approval ${id}`);
