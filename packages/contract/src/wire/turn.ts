import { z } from 'zod';
import { turnNoteSchema } from '../conversation.ts';
import { modelAnsweredSchema, modelUsageSchema, problemSchema } from '../vocabulary.ts';
import { cursorOf, integerParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

/** A message that a person wrote to the run. */
const readMessageSchema = z.strictObject({ id: z.string(), by: z.string(), text: z.string(), at: time });

/** One decision of the planner: the words of a model, and the steps of its calls. */
export const turnSchema = z
  .strictObject({
    run_id: z.string(),
    turn: z.int(),
    seq: z.int().describe('The number of its event `turn.planned`, which has more'),
    message: z.string().describe('What the model said; empty: calls alone, or a plan'),
    messages: z.array(readMessageSchema).describe('What people wrote to the run since the turn before'),
    messages_read: z.int().nullable().describe('How many messages of people the planner had read. null: it reads none'),
    steps: z.array(z.string()).describe('The steps of its calls, in their order'),
    refused: z
      .strictObject({ calls: z.int(), error: problemSchema })
      .nullable()
      .describe('The last calls of an answer with too many of them: no step was made'),
    note: turnNoteSchema.nullable().describe('What the model reads after this answer, before its next turn'),
    answered: modelAnsweredSchema.nullable().describe('Who answered. null: a plan, a caller, or not recorded'),
    usage: modelUsageSchema
      .omit({ cost_micros: true })
      .extend({ cost_usd: z.number().nullable().describe('null: the price is not known') })
      .nullable()
      .describe('What the model used for this turn. null: no model was asked'),
    asked_at: time.nullable(),
    planned_at: time,
    undone: z.boolean().describe('An undo removed it: the model does not see it, and its number may come again'),
  })
  .meta({ id: 'Turn' });
export type Turn = z.infer<typeof turnSchema>;

export const turnPageSchema = pageOf(turnSchema);

/** GET /v1/runs/{id}/turns. */
export const listTurnsQuerySchema = z.strictObject({
  limit: integerParameter(1, 500).default(50),
  cursor: cursorOf(z.string().regex(/^\d{1,15}$/, 'expected the cursor of a page')).optional(),
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: the first turn first'),
});
