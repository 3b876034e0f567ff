import type { ApprovalStatus, DecisionKind } from '@holdpoint/contract';
import { approvalField, approvalsField, runField, stepField } from '../model.ts';
import type { ChangesOf, EventsOf, StateChanges } from './state-changes.ts';

/** The changes of an approval. An approval without a step is about the publish of the run. */
export const approvalChanges: ChangesOf<EventsOf<'approval'>> = {
  'approval.requested': (state, { step_id, time, data: { approval_id, snapshot: _, ...request } }) => {
    state.set(approvalField.request(approval_id), { ...request, step_id, requested_at: time });
    state.set(approvalField.status(approval_id), 'pending');
    state.mark(approvalsField, runField.seq, { text: ` ${approval_id}:`, ahead: 1 });
    if (request.changed !== undefined) state.set(approvalField.superseded(request.changed.approval_id), approval_id);
    if (step_id === undefined) {
      state.set(runField.publication, 'parked');
      state.set(runField.publish_approval, approval_id);
    } else {
      state.set(stepField.approval(step_id), approval_id);
      if (request.kind !== 'indeterminate') state.set(stepField.status(step_id), 'parked');
    }
    state.increase(runField.parked);
  },
  'approval.decided': (state, { step_id, time, data: { approval_id, snapshot, writes, ...decision } }) => {
    close(state, approval_id, statusAfter[decision.decision]);
    state.set(approvalField.decision(approval_id), { ...decision, decided_at: time });
    if (step_id === undefined) return;
    state.set(stepField.approved_snapshot(step_id), snapshot);
    if (writes) state.set(runField.writer, step_id);
  },
  'approval.voted': (state, { data: { approval_id, votes } }) => state.set(approvalField.votes(approval_id), votes),
  'approval.delegated': (state, { data: { approval_id, delegations } }) =>
    state.set(approvalField.delegations(approval_id), delegations),
  'approval.reminded': (state, { data: { approval_id, times } }) =>
    state.set(approvalField.reminded(approval_id), times),
  'approval.escalated': (state, { data: { approval_id, to } }) => state.set(approvalField.escalated(approval_id), to),
  'approval.expired': (state, { data }) => close(state, data.approval_id, 'expired'),
  'approval.canceled': (state, { data }) => close(state, data.approval_id, 'canceled'),
};

function close(state: StateChanges, approvalId: string, status: ApprovalStatus): void {
  state.set(approvalField.status(approvalId), status);
  state.increase(runField.parked, -1);
}

const statusAfter = {
  approve: 'approved',
  edit: 'edited',
  reject: 'rejected',
  respond: 'responded',
} as const satisfies Record<DecisionKind, ApprovalStatus>;
