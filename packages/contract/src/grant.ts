import { z } from 'zod';
import { payloadSchema } from './payload.ts';
import { decisionKindSchema } from './vocabulary.ts';

/**
 * A decision to let a call run. The planner of the run reads the decision with the outcome. The message of any other decision is the
 * outcome.
 */
export const grantSchema = z.strictObject({
  decision: decisionKindSchema.extract(['approve', 'edit']),
  args: payloadSchema.optional().describe('With edit: the arguments that ran'),
  message: z.string().optional(),
  by: z.string().optional(),
  rule_id: z.string().optional().describe('A remembered rule that `by` made decided'),
  expired: z.literal(true).optional().describe('The policy decided when the deadline passed'),
  indeterminate: z
    .literal(true)
    .optional()
    .describe('An earlier attempt may have taken effect, and the call ran again'),
});
export type Grant = z.infer<typeof grantSchema>;
