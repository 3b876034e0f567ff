import { z } from 'zod';

/** Bounds of the questions of an outside server about one call. Sizes are bytes of UTF-8. */
export const questionBounds = {
  rounds: 5,
  requests: 5,
  fields: 20,
  options: 50,
  name: 100,
  words: 1000,
  message: 8 * 1024,
  answer: 32 * 1024,
  state: 64 * 1024,
} as const;

const words = z.string().max(questionBounds.words);
const size = z.int().min(0);
const option = z.strictObject({ value: words, title: words.optional() });
const options = z.array(option).min(1).max(questionBounds.options);
const about = {
  name: z.string().min(1).max(questionBounds.name),
  title: words.optional(),
  description: words.optional(),
  required: z.boolean(),
  secret: z.literal(true).optional().describe('It looks as if a password or a key is asked for'),
};

/** A value that a server asks for. */
export const questionFieldSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...about,
    type: z.literal('text'),
    min_length: size.optional(),
    max_length: size.optional(),
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  }),
  z.strictObject({
    ...about,
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
  z.strictObject({ ...about, type: z.literal('boolean') }),
  z.strictObject({ ...about, type: z.literal('choice'), options }),
  z.strictObject({
    ...about,
    type: z.literal('choices'),
    options,
    min_items: size.optional(),
    max_items: size.optional(),
  }),
]);
export type QuestionField = z.infer<typeof questionFieldSchema>;

/** Questions of an outside server before its call continues. All words are the server's. */
export const outsideQuestionSchema = z.strictObject({
  server: z.string(),
  tool: z.string(),
  /** Each has a key, by which the server finds its answer. */
  requests: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(questionBounds.name),
        message: z.string(),
        fields: z.array(questionFieldSchema).max(questionBounds.fields),
      }),
    )
    .min(1)
    .max(questionBounds.requests),
});
export type OutsideQuestion = z.infer<typeof outsideQuestionSchema>;

/** The values for each request, by its key. */
export type OutsideAnswers = Record<string, Record<string, z.core.util.JSONType>>;

/** The answers of a person, for the next attempt of their call. */
export interface AnsweredQuestion {
  /** Number of the answered question, from 1. */
  round: number;
  answers: OutsideAnswers;
  /** The state that the server gets back, byte for byte. */
  state?: string | undefined;
}
