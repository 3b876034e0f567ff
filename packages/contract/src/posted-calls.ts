import { z } from 'zod';
import { stepIdSchema } from './ids.ts';
import { payloadOf } from './payload.ts';
import { callNameSchema, mostCalls } from './plan.ts';

/** A call that is made as soon as the ones before it are settled. What is wrong with its tool or arguments is its result. */
const postedCallSchema = z.strictObject({
  tool: z.string().min(1).max(200),
  args: z.json().default({}).describe('Each `{$from: name, pointer}` stands for a value of an earlier result'),
  name: callNameSchema.optional(),
});
export type PostedCall = z.output<typeof postedCallSchema>;

/** The calls of one turn of an open run. */
export const postedTurnSchema = z.array(postedCallSchema).min(1).max(mostCalls);

/** What an open run keeps of the calls that it received. */
export const postedCallsSchema = z.strictObject({
  steps: z.array(stepIdSchema).describe('The steps that the calls become, in their order'),
  concurrent: z.literal(true).optional(),
  calls: payloadOf<PostedCall[]>().optional().describe('Left out when their turn was recorded with them'),
});
export type PostedCalls = z.infer<typeof postedCallsSchema>;

/** Turns that may wait behind the one that an open run is at. */
export const mostPostedTurns = 100;
