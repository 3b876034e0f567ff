import { ruleField } from '../model.ts';
import type { ChangesOf, EventsOf } from './state-changes.ts';

/** The changes of a remembered rule. */
export const ruleChanges: ChangesOf<EventsOf<'rule'>> = {
  'rule.remembered': (state, { time, data }) => {
    state.set(ruleField.made(data.rule_id), { ...data, made_at: time });
    state.set(ruleField.status(data.rule_id), 'made');
  },
  'rule.revoked': (state, { data: { rule_id, by } }) => {
    state.set(ruleField.status(rule_id), 'revoked');
    state.set(ruleField.revoked_by(rule_id), by);
  },
};
