import { z } from 'zod';
import { stepIdSchema } from './ids.ts';

/**
 * Text streamed while its source produces the text, and in no log: a model's answer, and the output of commands of a call or of `prepare`.
 */
export const liveKinds = ['model.asking', 'model.text', 'model.reasoning', 'model.call', 'command.output'] as const;

/** The source of a stream of text. */
export const liveSourceSchema = z.strictObject({
  kind: z
    .enum(liveKinds)
    .describe('`model.asking` has no text: the model is asked since `since`. `model.call`: the arguments as JSON text'),
  turn: z.int().min(1).optional().describe('For a model: the turn that it plans'),
  index: z.int().min(0).optional().describe('For a call of a model: its place in the answer'),
  step_id: stepIdSchema.optional().describe('For a command: the step that runs it'),
  attempt: z.int().min(1).optional(),
  prepare: z.int().min(1).optional().describe('For a command of `prepare`: its number'),
  model: z.string().optional(),
  tool: z.string().optional(),
  since: z.iso.datetime().describe('When it began. Another time with the same turn or step: it began again'),
});
export type LiveSource = z.infer<typeof liveSourceSchema>;

/** A piece of the text of a source. */
export const liveFrameSchema = liveSourceSchema.extend({
  offset: z
    .int()
    .min(0)
    .describe(
      'Where `text` begins, in UTF-16 units of the whole text. Above the end of the last piece: the text between is gone',
    ),
  text: z.string(),
  cut: z.literal(true).optional().describe('What was written since the last piece is longer than what is kept'),
  ended: z.literal(true).optional().describe('Nothing follows'),
});
export type LiveFrame = z.infer<typeof liveFrameSchema>;

/** Frames with the same key and the same `since` belong to the same text. A new `since` starts a new text in place of the old text. */
export const liveKey = ({ kind, turn, index, step_id, prepare }: LiveSource): string =>
  [kind, turn ?? step_id ?? prepare, index].join('/');

/** Frames of a run, sent by the worker of the source. `whole`: the frames start at the beginning of the kept text. */
export const liveMessageSchema = z.strictObject({
  whole: z.literal(true).optional(),
  frames: z.array(liveFrameSchema),
});
export type LiveMessage = z.infer<typeof liveMessageSchema>;

/**
 * Asks the workers for the live text of a run. `fresh`: asks for all kept text. `begun`: a new worker asks the API to repeat its requests.
 */
export const liveJoinSchema = z.union([
  z.strictObject({ run_id: z.string(), fresh: z.literal(true).optional() }),
  z.strictObject({ begun: z.string() }),
]);

/** UTF-16 units kept of each source; the oldest are dropped first. */
export const keptLiveText = 64 * 1024;

/** The last `keptLiveText` units of a text, without half a character at its beginning. */
export function keepEnd(text: string): string {
  if (text.length <= keptLiveText) return text;
  const end = text.slice(-keptLiveText);
  return /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end;
}
