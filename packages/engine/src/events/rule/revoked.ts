import { attribute, type Meaning, note, runRecord, spanKeys } from '../meaning.ts';

export const ruleRevoked: Meaning<'rule.revoked'> = {
  changes(state, { data: { rule_id, by } }, { rule }) {
    state.set(rule.status(rule_id), 'revoked');
    state.set(rule.revoked_by(rule_id), by);
  },
  span: (trace, { data }) =>
    note(trace, spanKeys.run(trace.life), 'rule revoked', { [attribute.ruleId]: data.rule_id }),
  audit: { record: runRecord },
};
