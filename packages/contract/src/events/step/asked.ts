import { type OutsideQuestion, questionBounds } from '../../outside-question.ts';
import { approvalIdSchema, attempt, payloadOf, stepEvent, z } from '../event.ts';

/** A question of the other side of a call, which waits for the answer of a person. */
export const askedSchema = z.strictObject({
  attempt,
  round: z.int().min(1).max(questionBounds.rounds),
  question: payloadOf<OutsideQuestion>(),
  state: z
    .strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() })
    .optional()
    .describe('What the other side wants back with the answer. Only the blob has it'),
  approval_id: approvalIdSchema,
  decided: z.boolean().describe('Whether the call had been let run by a decision, and not by the policy'),
});

export const stepAsked = stepEvent('step.asked', {
  data: askedSchema.shape,
  line: ({ data: { round } }, { call }) => `${call} asks a person before it continues (question ${round})`,
  tone: 'warning',
});
