import { rememberedRuleSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, json, optional, text } from './field.ts';

/** The fields of a remembered rule, named `<rule id>:<field>`, in the run of the approval behind the rule. */
export const ruleTable = {
  status: text(z.enum(['made', 'revoked']), 'Status of the rule; its expiry is in `made`.'),
  made: json(
    rememberedRuleSchema.extend({ approval_id: z.string(), made_at: z.string() }),
    'Which calls the rule lets through, and until when.',
  ),
  revoked_by: optional(text(z.string(), 'Who revoked the rule.')),
};

export const ruleField = cellsById(ruleTable);
