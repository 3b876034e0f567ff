import type { ActionChanged, NewEvent, Payload, Shown } from '@holdpoint/contract';
import { sameTerms } from '../deciders.ts';
import * as model from '../model.ts';
import { parkedChange } from './ask-question.ts';

/**
 * The files changed after a call was approved: nothing runs, the workspace is at the snapshot just found, and the call asks again. No step
 * is the writer until the next decision, so ended background commands can be captured.
 */
export function askAgain(
  run: model.RunState,
  step: model.StepState,
  again: {
    decided: model.ApprovalState;
    /** Id of the new approval. */
    approvalId: string;
    expiresAt: string;
    shown: { preview?: Payload<Shown> | undefined; uses?: string | undefined; reaches?: string[] | undefined };
    found: Omit<ActionChanged, 'approval_id' | 'from' | 'to'> & {
      snapshot: string;
      files_changed: number;
      skipped: number;
    };
  },
): model.Transition {
  const waiting = parkedChange(run, 1);
  const { decided, approvalId, expiresAt, found } = again;
  const { preview, uses, reaches } = again.shown;
  const { snapshot, files_changed, skipped, changes, total, uses: now } = found;
  const what = now === undefined ? 'the files changed' : 'the changes of the sub-agent changed';
  const parent = run.snapshot ?? '';
  const from = step.approved_snapshot ?? '';
  const { kind, allowed_decisions } = decided.request;
  // An earlier attempt is indeterminate: the new question is the same as the question before.
  const indeterminate: NewEvent[] =
    kind === 'indeterminate'
      ? [{ type: 'step.indeterminate', step_id: step.id, data: { attempt: step.attempt, reason: changedSince } }]
      : [];
  return {
    if: [
      ...waiting.if,
      model.stepIs(step.id, 'queued'),
      model.attemptIs(step.id, step.attempt),
      model.leaseIs(run.lease),
      model.headIs(run.head),
      model.isRestored,
      model.writerIs('', step.id),
      model.snapshotIs(parent),
    ],
    events: [
      { type: 'workspace.drifted', step_id: step.id, data: { snapshot, parent, files_changed, skipped } },
      ...indeterminate,
      {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: approvalId,
          kind,
          snapshot,
          reason: `${what} since the decision on ${decided.id}, so nothing ran: decide on the call as it is now`,
          risk: decided.request.risk,
          preview,
          uses,
          reaches,
          ...sameTerms(decided.request),
          allowed_decisions,
          expires_at: expiresAt,
          edited_by: editorsOf(decided),
          changed: { approval_id: decided.id, from, to: snapshot, changes, total, uses: now },
        },
      },
      ...waiting.events,
    ],
  };
}

const changedSince = {
  code: 'EACTIONCHANGED',
  message: 'The files changed after the decision, so the call did not run again.',
};

/** The callers who gave the call its arguments, including the caller whose decision became void. */
export function editorsOf({
  request,
  decision,
}: Pick<model.ApprovalState, 'request' | 'decision'>): string[] | undefined {
  if (decision?.decision !== 'edit') return request.edited_by;
  return [...new Set([...(request.edited_by ?? []), decision.by])];
}
