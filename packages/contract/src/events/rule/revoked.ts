import { event, ruleIdSchema, z } from '../event.ts';

export const ruleRevoked = event('rule.revoked', {
  data: { rule_id: ruleIdSchema, by: z.string() },
  line: ({ data }) => `${data.rule_id} by ${data.by}`,
});
