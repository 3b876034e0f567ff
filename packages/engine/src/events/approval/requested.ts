import * as meaning from '../meaning.ts';

/** An approval without a step is about the publish of the run. */
export const approvalRequested: meaning.Meaning<'approval.requested'> = {
  changes(state, { step_id, time, data }, { run, step, approval, approvals }) {
    const { approval_id, snapshot: _, ...request } = data;
    state.set(approval.request(approval_id), { ...request, step_id, requested_at: time });
    state.set(approval.status(approval_id), 'pending');
    state.mark(approvals, run.seq, { text: ` ${approval_id}:`, ahead: 1 });
    const { replaces } = request;
    if (replaces !== undefined) {
      state.set(approval.superseded(replaces.approval_id), approval_id);
      if (replaces.delegations !== undefined) state.set(approval.delegations(approval_id), replaces.delegations);
      if (replaces.escalated !== undefined) state.set(approval.escalated(approval_id), replaces.escalated);
    }
    if (request.changed !== undefined) state.set(approval.superseded(request.changed.approval_id), approval_id);
    if (step_id === undefined) {
      state.set(run.publication, 'parked');
      state.set(run.publish_approval, approval_id);
    } else {
      state.set(step.approval(step_id), approval_id);
      if (request.kind !== 'indeterminate') state.set(step.status(step_id), 'parked');
    }
    state.increase(run.parked);
  },
  span(trace, { step_id, data: { approval_id, kind, changed } }) {
    const what = kind === 'input' ? 'question' : 'approval';
    const publish = meaning.spanKeys.publish(trace.publishes);
    const parent = step_id ?? (trace.open.has(publish) ? publish : undefined);
    meaning.open(trace, approval_id, {
      kind: 'wait',
      name: meaning.spanName.wait(what),
      parent,
      attributes: {
        [meaning.attribute.waitFor]: what,
        [meaning.attribute.approvalId]: approval_id,
        [meaning.attribute.approvalKind]: kind,
        [meaning.attribute.stepId]: step_id,
      },
    });
    if (changed !== undefined)
      meaning.note(trace, approval_id, 'files changed', { [meaning.attribute.filesChanged]: changed.total });
  },
  audit: {
    learn(facts, event) {
      facts.approvals.set(event.data.approval_id, event);
      const call = event.step_id === undefined ? undefined : facts.calls.get(event.step_id);
      if (call !== undefined) call.verdict ??= { action: 'hold', reason: event.data.reason };
      meaning.learnApproval(facts, event, { status: 'pending' });
    },
    record(facts, event, redact) {
      const { reason, expires_at } = event.data;
      return {
        ...meaning.approvalCommon(facts, event, redact),
        ...{ status: 'pending', reason: meaning.shortText(reason, redact), expires_at },
      };
    },
  },
};
