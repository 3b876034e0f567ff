import { z } from 'zod';
import { stepIdSchema } from './ids.ts';
import { payloadOf } from './payload.ts';
import { callNameSchema, mostCalls } from './plan.ts';

/** A call made as soon as the calls before are settled. A mistake in its tool or arguments is its result. */
const postedCallSchema = z.strictObject({
  tool: z.string().min(1).max(200),
  args: z.json().default({}).describe('Each `{$from: name, pointer}` stands for a value of an earlier result'),
  name: callNameSchema.optional(),
});
export type PostedCall = z.output<typeof postedCallSchema>;

/** The calls of a turn of an open run. */
export const postedTurnSchema = z.array(postedCallSchema).min(1).max(mostCalls);

/** The record of the received calls in an open run. */
export const postedCallsSchema = z.strictObject({
  steps: z.array(stepIdSchema).describe('The steps that the calls become, in their order'),
  concurrent: z.literal(true).optional(),
  calls: payloadOf<PostedCall[]>().optional().describe('Left out when their turn was recorded with them'),
});
export type PostedCalls = z.infer<typeof postedCallsSchema>;

/** Most turns in the queue behind the present turn of an open run. */
export const mostPostedTurns = 100;
