import { fieldIs, ruleField, type Transition } from '../model.ts';

/** A remembered rule ends. */
export const revokeRule = (ruleId: string, by: string): Transition => ({
  if: [fieldIs(ruleField.status(ruleId), 'made')],
  events: [{ type: 'rule.revoked', data: { rule_id: ruleId, by } }],
});
