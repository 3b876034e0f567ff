import { effectSchema, payloadSchema, riskSchema, stepEvent, verdictSchema, z } from '../event.ts';

/** A planned call, without its arguments. */
export const callSchema = z.strictObject({
  turn: z.int().min(1),
  index: z.int().min(0),
  name: z.string().optional(),
  call_id: z.string().optional().describe("The model's id for this call"),
  tool: z.string(),
  effect: effectSchema,
  risk: riskSchema,
  gate: z.enum(['input', 'plan']).optional(),
  sequential: z.literal(true).optional(),
  beside: z
    .literal(true)
    .optional()
    .describe('It runs beside other calls of its turn, as a background command that writes in its place'),
  looks: z.literal(true).optional().describe('The tool may have a question when it sees the workspace'),
  reads: z
    .array(z.string())
    .optional()
    .describe(
      'Its command was let through because it only reads: it runs with these programs alone, its tree read-only and without a network, so `effect` is `read`',
    ),
  planning: z
    .literal(true)
    .optional()
    .describe('Planned in plan mode: its tree is read-only, also when the plan was approved before the call began'),
  verdict: verdictSchema.optional().describe('By the policies in force when the call was planned'),
  policies: z.string().optional().describe('Which policies those were'),
  written: payloadSchema
    .optional()
    .describe(
      'The arguments as the caller wrote them, which the policies judge; absent when validation changed nothing',
    ),
});

export const stepCreated = stepEvent('step.created', {
  data: { ...callSchema.shape, args: payloadSchema },
  line: ({ data }, { call }) => `${call} (${data.effect}, ${data.risk} risk)`,
  tone: 'faint',
  isQuiet: true,
});
