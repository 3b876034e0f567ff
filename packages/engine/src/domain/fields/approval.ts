import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, integer, json, optional, text } from './field.ts';

/** The fields of an approval, named `<approval id>:<field>`. */
export const approvalTable = {
  status: text(contract.approvalStatusSchema, 'Status of the approval.'),
  request: json(
    contract.approvalRequestSchema.extend({ step_id: contract.stepIdSchema.optional(), requested_at: z.string() }),
    'What is asked. Without a step: about the publish of the run.',
  ),
  superseded: optional(text(z.string(), 'The approval that asks again because the files had changed.')),
  decision: optional(json(contract.decisionSchema.extend({ decided_at: z.string() }), 'The decision of a person.')),
  votes: optional(json(z.array(contract.voteSchema), 'Who has approved, where several have to.')),
  delegations: optional(json(z.array(contract.delegationSchema), 'Callers who let another caller decide.')),
  reminded: integer('How often the approval was brought to mind.'),
  previewing: optional(
    json(
      z.strictObject({ by: z.string(), at: z.string() }),
      'Who asked for the result of the call, while no worker has answered.',
    ),
  ),
  preview_failed: optional(
    json(z.strictObject({ reason: contract.problemSchema, at: z.string() }), 'Why there is no result to show.'),
  ),
  escalated: optional(json(z.array(z.string()), 'Globs on names of callers who may decide since the escalation.')),
};

export const approvalField = cellsById(approvalTable);

/** The fields of a remembered rule, named `<rule id>:<field>`, in the run of the approval behind the rule. */
export const ruleTable = {
  status: text(z.enum(['made', 'revoked']), 'Status of the rule; its expiry is in `made`.'),
  made: json(
    contract.rememberedRuleSchema.extend({ approval_id: z.string(), made_at: z.string() }),
    'Which calls the rule lets through, and until when.',
  ),
  revoked_by: optional(text(z.string(), 'Who revoked the rule.')),
};

export const ruleField = cellsById(ruleTable);
