import type { Payload, Problem, Shown } from '@holdpoint/contract';
import { sameTerms } from '../deciders.ts';
import * as model from '../model.ts';
import { parkedChange } from './ask-question.ts';

/** A caller wants to see the result of a held call before the decision. */
export const requestPreview = (
  run: model.RunState,
  step: model.StepState,
  { id, request }: model.ApprovalState,
  by: string,
): model.Transition => ({
  if: [
    model.runIs(run.status),
    model.approvalIs(id, 'pending'),
    model.stepIs(step.id, 'parked'),
    model.isAbsent(model.approvalField.previewing(id)),
  ],
  before: Date.parse(request.expires_at),
  events: [{ type: 'approval.preview_requested', step_id: step.id, data: { approval_id: id, by } }],
});

/** The call has no result that can be shown: the approval stays open as it was. */
export const failPreview = (
  step: model.StepState,
  approval: model.ApprovalState,
  reason: Problem,
): model.Transition => ({
  if: stillPreviewing(step, approval),
  events: [{ type: 'approval.preview_failed', step_id: step.id, data: { approval_id: approval.id, reason } }],
});

/** An approval with the result replaces the approval without: the same terms, deciders and deadline, and another digest. */
export function replaceByPreview(
  run: model.RunState,
  step: model.StepState,
  asked: model.ApprovalState,
  shown: { approvalId: string; preview: Payload<Shown>; uses: string },
): model.Transition {
  const waiting = parkedChange(run, 0);
  const { request, delegations, escalated } = asked;
  const { approvalId, preview, uses } = shown;
  return {
    if: [
      ...waiting.if,
      ...stillPreviewing(step, asked),
      model.snapshotIs(run.snapshot ?? ''),
      model.fieldIs(model.approvalField.delegations(asked.id), delegations),
      model.fieldIs(model.approvalField.escalated(asked.id), escalated),
    ],
    before: Date.parse(request.expires_at),
    events: [
      {
        type: 'approval.canceled',
        step_id: step.id,
        data: { approval_id: asked.id, reason: `replaced by ${approvalId}, which shows the result of the call` },
      },
      {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: approvalId,
          kind: request.kind,
          snapshot: run.snapshot ?? '',
          reason: request.reason,
          risk: request.risk,
          preview,
          uses,
          ...sameTerms(request),
          allowed_decisions: request.allowed_decisions,
          expires_at: request.expires_at,
          edited_by: request.edited_by,
          changed: request.changed,
          replaces: { approval_id: asked.id, delegations, escalated },
        },
      },
      ...waiting.events,
    ],
  };
}

/** No caller has decided or asked again since the worker read the approval. */
const stillPreviewing = (step: model.StepState, { id, previewing }: model.ApprovalState): model.Condition[] => [
  model.approvalIs(id, 'pending'),
  model.stepIs(step.id, 'parked'),
  model.fieldIs(model.approvalField.previewing(id), previewing),
];
