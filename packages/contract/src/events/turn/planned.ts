import {
  event,
  modelAnsweredSchema,
  modelUsageSchema,
  payloadSchema,
  problemSchema,
  stepIdSchema,
  turnNoteSchema,
  z,
} from '../event.ts';

/** Counts of the last turns in a row: with the same calls and results, and without a success. */
export const repetitionSchema = z.strictObject({
  digest: z.string(),
  same: z.int(),
  failed: z.int(),
  recent: z.array(z.string()).optional().describe('Digests of the last turns, the latest first'),
  cycles: z.array(z.int()).optional().describe('Turns in a row equal to the turn 1, 2, 3, … turns before'),
});
export type Repetition = z.infer<typeof repetitionSchema>;

/** The last calls of an answer with more calls than a turn may have. They become no steps and never run. */
export const refusedCallsSchema = z.strictObject({ calls: z.int().min(1), error: problemSchema });
export type RefusedCalls = z.infer<typeof refusedCallsSchema>;

export const turnPlanned = event('turn.planned', {
  data: {
    turn: z.int().min(1),
    steps: z.array(stepIdSchema),
    message: z.string(),
    answer: payloadSchema.optional().describe("the model's whole answer, provider metadata included"),
    usage: modelUsageSchema.optional().describe('What the model used; cost in millionths of a US dollar'),
    repetition: repetitionSchema.optional().describe('Over the turns before'),
    messages_read: z.int().optional().describe('How many of the messages to the run the planner had read'),
    refused: refusedCallsSchema.optional(),
    received: z.int().min(1).optional().describe('The number of the received calls that it makes'),
    asked_at: z.iso.datetime().optional().describe('When the planner was asked'),
    answered: modelAnsweredSchema.optional(),
    warned: z.string().optional().describe('What the model read before this turn: it was repeating itself'),
    note: turnNoteSchema.optional().describe('What the model reads after this answer, before its next turn'),
  },
  line: ({ data }) => `${data.turn}: ${data.message}`,
});
