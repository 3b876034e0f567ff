import * as events from '../event.ts';

/** Counts of the last turns in a row: with the same calls and results, and without a success. */
export const repetitionSchema = events.z.strictObject({
  digest: events.z.string(),
  same: events.z.int(),
  failed: events.z.int(),
  recent: events.z.array(events.z.string()).optional().describe('Digests of the last turns, the latest first'),
  cycles: events.z
    .array(events.z.int())
    .optional()
    .describe('Turns in a row equal to the turn 1, 2, 3, … turns before'),
});
export type Repetition = events.z.infer<typeof repetitionSchema>;

/** The last calls of an answer with more calls than a turn may have. They become no steps and never run. */
export const refusedCallsSchema = events.z.strictObject({ calls: events.z.int().min(1), error: events.problemSchema });
export type RefusedCalls = events.z.infer<typeof refusedCallsSchema>;

export const turnPlanned = events.event('turn.planned', {
  data: {
    turn: events.z.int().min(1),
    steps: events.z.array(events.stepIdSchema),
    message: events.z.string(),
    answer: events.payloadSchema.optional().describe("the model's whole answer, provider metadata included"),
    usage: events.modelUsageSchema.optional().describe('What the model used; cost in millionths of a US dollar'),
    repetition: repetitionSchema.optional().describe('Over the turns before'),
    messages_read: events.z.int().optional().describe('How many of the messages to the run the planner had read'),
    refused: refusedCallsSchema.optional(),
    received: events.z.int().min(1).optional().describe('The number of the received calls that it makes'),
    asked_at: events.z.iso.datetime().optional().describe('When the planner was asked'),
    answered: events.modelAnsweredSchema.optional(),
    warned: events.z.string().optional().describe('What the model read before this turn: it was repeating itself'),
    note: events.turnNoteSchema.optional().describe('What the model reads after this answer, before its next turn'),
  },
  line: ({ data }) => `${data.turn}: ${data.message}`,
});
