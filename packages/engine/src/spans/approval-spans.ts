import { attribute, spanName } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { spanKeys } from './ids.ts';
import { close, note, open, set } from './spans.ts';
import type { SpansOf } from './spans-of.ts';

/** The waits for people, the decisions and the deciders. A wait without a step is about the publish. */
export const approvalSpans: SpansOf<EventsOf<'approval' | 'rule'>> = {
  'approval.requested': (trace, { step_id, data: { approval_id, kind, changed } }) => {
    const what = kind === 'input' ? 'question' : 'approval';
    const publish = spanKeys.publish(trace.publishes);
    const parent = step_id ?? (trace.open.has(publish) ? publish : undefined);
    open(trace, approval_id, {
      kind: 'wait',
      name: spanName.wait(what),
      parent,
      attributes: {
        [attribute.waitFor]: what,
        [attribute.approvalId]: approval_id,
        [attribute.approvalKind]: kind,
        [attribute.stepId]: step_id,
      },
    });
    if (changed !== undefined) note(trace, approval_id, 'files changed', { [attribute.filesChanged]: changed.total });
  },
  'approval.decided': (trace, { data }) => {
    const { approval_id, decision, by, rule_id, made_rule, votes, expired } = data;
    close(trace, approval_id, {
      attributes: {
        [attribute.decision]: decision,
        [attribute.decidedBy]: by,
        [attribute.ruleId]: rule_id,
        [attribute.madeRule]: made_rule,
        [attribute.votes]: votes?.length,
        [attribute.approvalExpired]: expired,
      },
    });
  },
  'approval.expired': (trace, { data }) =>
    close(trace, data.approval_id, { attributes: { [attribute.decision]: 'expired' } }),
  'approval.canceled': (trace, { data }) =>
    close(trace, data.approval_id, { attributes: { [attribute.decision]: 'canceled' } }),
  'approval.voted': (trace, { data }) =>
    note(trace, data.approval_id, 'approval voted', { [attribute.decidedBy]: data.by }),
  'approval.delegated': (trace, { data }) =>
    note(trace, data.approval_id, 'approval delegated', { [attribute.decidedBy]: data.from }),
  'approval.reminded': (trace, { data }) => {
    set(trace, data.approval_id, { [attribute.reminders]: data.times });
    note(trace, data.approval_id, 'approval reminded');
  },
  'approval.escalated': (trace, { data }) => note(trace, data.approval_id, 'approval escalated'),
  // The decision that made the rule names the rule.
  'rule.remembered': () => {},
  'rule.revoked': (trace, { data }) =>
    note(trace, spanKeys.run(trace.life), 'rule revoked', { [attribute.ruleId]: data.rule_id }),
};
