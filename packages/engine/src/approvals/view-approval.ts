import { type Effect, isIdOf, type Json } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { type ApprovalState, actionDigest, EngineError, type RunState, type StepState } from '../domain/index.ts';
import { fromPayload, ownerOf, readApproval, readRun, readStep } from '../log/index.ts';

interface Subject {
  run: RunState;
  approval: ApprovalState;
  /** What a decision must name now. */
  digest: string;
}

/** About a call: with its step and its arguments. */
export interface StepApproval extends Subject {
  subject: 'step';
  step: StepState;
  /** As they were asked for: an edit is in the approval's decision. */
  args: Json;
  effect: Effect;
}

/** About the publish of a run. */
export interface PublishApproval extends Subject {
  subject: 'publication';
}

export type ApprovalView = StepApproval | PublishApproval;

/** @throws EngineError `approval_not_found` */
export async function viewApproval(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  approvalId: string,
): Promise<ApprovalView> {
  const runId = isIdOf('approval', approvalId) ? await ownerOf(deps.redis, approvalId) : null;
  const approval = runId === null ? undefined : await readApproval(deps.redis, runId, approvalId);
  if (!approval || runId === null) throw notFound(approvalId);
  const { step_id, action_digest } = approval.request;
  if (step_id === undefined) {
    const run = await readRun(deps.redis, runId);
    if (!run || action_digest === undefined) throw notFound(approvalId);
    return { subject: 'publication', run, approval, digest: action_digest };
  }
  const found = await readStep(deps.redis, runId, step_id);
  if (!found) throw notFound(approvalId);
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
  return { subject: 'step', ...found, approval, args, effect, digest };
}

const notFound = (id: string): EngineError => new EngineError('approval_not_found', `there is no approval ${id}`);
