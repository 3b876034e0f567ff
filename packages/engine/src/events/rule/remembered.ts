import { type Meaning, noSpan, runRecord } from '../meaning.ts';

export const ruleRemembered: Meaning<'rule.remembered'> = {
  changes(state, { time, data }, { rule }) {
    state.set(rule.made(data.rule_id), { ...data, made_at: time });
    state.set(rule.status(data.rule_id), 'made');
  },
  // The decision that made the rule names the rule.
  span: noSpan,
  audit: { record: runRecord },
};
