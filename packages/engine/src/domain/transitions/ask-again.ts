import type { ActionChanged, NewEvent, Payload } from '@holdpoint/contract';
import type { ApprovalState, RunState, StepState } from '../state.ts';
import {
  attemptIs,
  headIs,
  isRestored,
  leaseIs,
  snapshotIs,
  stepIs,
  type Transition,
  writerIs,
} from '../transition.ts';
import { parkedChange } from './waiting.ts';

/**
 * The files are no longer those that a call was approved for: nothing ran, the workspace is at what was found, and the call asks again. The
 * place of the writer is free until the next decision, so that background commands which ended can be captured.
 */
export function askAgain(
  run: RunState,
  step: StepState,
  again: {
    /** The approval that was decided. */
    decided: ApprovalState;
    /** Belongs to the new approval. */
    approvalId: string;
    expiresAt: string;
    shown: { preview?: Payload | undefined; uses?: string | undefined };
    found: Omit<ActionChanged, 'approval_id' | 'from' | 'to'> & {
      snapshot: string;
      files_changed: number;
      skipped: number;
    };
  },
): Transition {
  const waiting = parkedChange(run, 1);
  const { decided, approvalId, expiresAt, found } = again;
  const { preview, uses } = again.shown;
  const { snapshot, files_changed, skipped, changes, total, uses: now } = found;
  const what = now === undefined ? 'the files changed' : 'what it takes from a sub-agent changed';
  const parent = run.snapshot ?? '';
  const from = step.approved_snapshot ?? '';
  const { kind, allowed_decisions } = decided.request;
  // An earlier attempt is in doubt: the new question is the same as the one before.
  const doubted: NewEvent[] =
    kind === 'indeterminate'
      ? [{ type: 'step.indeterminate', step_id: step.id, data: { attempt: step.attempt, reason: changedSince } }]
      : [];
  return {
    if: [
      ...waiting.if,
      stepIs(step.id, 'queued'),
      attemptIs(step.id, step.attempt),
      leaseIs(run.lease),
      headIs(run.head),
      isRestored,
      writerIs('', step.id),
      snapshotIs(parent),
    ],
    events: [
      { type: 'workspace.drifted', step_id: step.id, data: { snapshot, parent, files_changed, skipped } },
      ...doubted,
      {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: approvalId,
          kind,
          snapshot,
          reason: `${what} since the decision on ${decided.id}, so nothing ran: decide on it as it is now`,
          risk: decided.request.risk,
          ...(preview === undefined ? {} : { preview }),
          ...(uses === undefined ? {} : { uses }),
          allowed_decisions,
          expires_at: expiresAt,
          changed: {
            approval_id: decided.id,
            from,
            to: snapshot,
            changes,
            total,
            ...(now === undefined ? {} : { uses: now }),
          },
        },
      },
      ...waiting.events,
    ],
  };
}

const changedSince = {
  code: 'EACTIONCHANGED',
  message: 'The files changed after the decision, so it did not run again.',
};
