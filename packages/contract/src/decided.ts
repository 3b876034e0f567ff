import { z } from 'zod';
import { payloadSchema } from './payload.ts';
import { decisionKindSchema } from './vocabulary.ts';

/** A decision that let a call run, as its planner reads it beside the outcome. What a person says with any other decision is the outcome. */
export const decidedSchema = z.strictObject({
  decision: decisionKindSchema.extract(['approve', 'edit']),
  args: payloadSchema.optional().describe('With edit: the arguments that ran'),
  message: z.string().optional(),
  indeterminate: z.literal(true).optional().describe('An earlier attempt may have taken effect, and it ran again'),
});
export type Decided = z.infer<typeof decidedSchema>;
