import { z } from 'zod';
import { postedTurnSchema } from '../posted-calls.ts';
import { integerParameter } from './page.ts';
import { stepDetailSchema } from './step.ts';

/** POST /v1/runs/{id}/calls: the calls of a turn of an open run. */
export const sendCallsSchema = z
  .strictObject({
    calls: postedTurnSchema,
    concurrent: z
      .boolean()
      .default(false)
      .describe('Calls whose tools can do so run side by side. The others keep their order'),
  })
  .superRefine(({ calls }, context) => {
    const names = calls.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (name === undefined || names.indexOf(name) === index) continue;
      const message = `the name ${name} is taken; give each call a name of its own`;
      context.addIssue({ code: 'custom', path: ['calls', index, 'name'], message });
    }
  });
export type SendCalls = z.input<typeof sendCallsSchema>;

export const waitQuerySchema = z.strictObject({
  wait_s: integerParameter(0, 60).default(0).describe('Seconds to wait until every call is settled'),
});

const receivedStepSchema = stepDetailSchema.extend({
  left_out: z
    .boolean()
    .describe('The calls have more than 64 MiB, and args and result of this one are null: GET /v1/steps/{id} has them'),
});

/** Calls received together by an open run. */
export const receivedCallsSchema = z
  .strictObject({
    number: z.int().describe('Number of the request, from 1: GET /v1/runs/{id}/calls/{number} reads it again'),
    turn: z.int().nullable().describe('null: calls before them are open, and none of these was begun'),
    settled: z.boolean().describe('Every call is settled'),
    steps: z.array(receivedStepSchema).describe('The calls as steps, in their order'),
  })
  .meta({ id: 'ReceivedCalls' });
export type ReceivedCalls = z.infer<typeof receivedCallsSchema>;

export const receivedCallsParamsSchema = z.strictObject({ id: z.string(), number: z.string() });

/** POST /v1/runs/{id}/finish. */
export const finishRunSchema = z.strictObject({ message: z.string().max(10_000).optional() });
export type FinishRun = z.input<typeof finishRunSchema>;
