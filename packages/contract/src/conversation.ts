import { z } from 'zod';
import { listedKindSchema } from './agent-kind.ts';
import { payloadSchema } from './payload.ts';
import { modelAnsweredSchema, modelUsageSchema, problemSchema } from './vocabulary.ts';

/** A note from Holdpoint to the model after an answer of the model, with the reason. */
export const turnNoteSchema = z.strictObject({
  code: z.enum(['cut_off', 'empty', 'withheld', 'open_tasks', 'output_invalid']),
  text: z.string().max(20_000),
});
export type TurnNote = z.infer<typeof turnNoteSchema>;

/** A summary: later requests have it in place of the turns up to `through_turn`. The log keeps them. */
export const compactionSchema = z.strictObject({
  through_turn: z.int().min(0).describe('The last turn that it stands for'),
  how: z
    .enum(['results_cut', 'summarised'])
    .describe('results_cut: results up to that turn are cut. summarised: the turns are replaced by a text'),
  summary: payloadSchema.optional().describe('The text that stands for these turns; absent when only results were cut'),
  carried: payloadSchema.optional().describe('What stays word for word beside the text, of all turns up to that one'),
  cap: z.int().optional().describe('Bytes that a result, and each long argument, keeps in a request'),
  kept: z.record(z.string(), z.int()).describe('How many of what stays word for word, by kind'),
  tokens_before: z.int().describe('Estimate of the request without it'),
  tokens_after: z.int(),
  window: z.int().optional().describe('Tokens that the model can read, as far as it is known'),
  learned: z
    .strictObject({ model: z.string(), window: z.int() })
    .optional()
    .describe('A window that a refused request showed'),
  scale: z.number().optional().describe('Tokens of the model for each token of the first estimate'),
  began_at: z.iso.datetime().optional(),
  model: z.string().optional().describe('The model that wrote the summary'),
  failed: problemSchema.optional().describe('Why no model wrote the summary: it is a list of the calls then'),
  usage: modelUsageSchema.optional(),
  answered: modelAnsweredSchema.optional(),
});
export type Compaction = z.infer<typeof compactionSchema>;

/** A file of the workspace with instructions for models. */
export const instructionFileSchema = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  cut: z.int().optional().describe('Bytes left out'),
  imported_by: z.string().optional().describe('The file that names it by `@path`'),
});
export type InstructionFile = z.infer<typeof instructionFileSchema>;

/** Instructions of a model. Written once, before the first turn: the beginning of the model's requests stays the same. */
export const instructedSchema = z.strictObject({
  system: payloadSchema.describe('The whole text'),
  files: z.array(instructionFileSchema).describe('Files of the workspace that it has'),
  agents: z.array(listedKindSchema).optional().describe('Documents about kinds of sub-agents'),
  environment: z.record(z.string(), z.json()).describe('Facts: date, platform, tools, network, limits'),
  window: z.int().optional().describe('Tokens that the model can read, where they are known'),
});
export type Instructed = z.infer<typeof instructedSchema>;

/** A message about events beside the conversation, for the model to read before its next turn. */
export const noticeKindSchema = z.enum([
  'task_ended',
  'agent_ended',
  'files_restored',
  'steps_undone',
  'todos_stale',
  'window_nearly_full',
  'budget_nearly_used',
]);
export type NoticeKind = z.infer<typeof noticeKindSchema>;

/** A notice has been given when its kind and `about` are in the conversation. */
export const noticeSchema = z.strictObject({
  kind: noticeKindSchema,
  about: z.string().max(200).describe('Which task, limit or list it is about: each is named once'),
});
export type Notice = z.infer<typeof noticeSchema>;

export const notifiedSchema = z.strictObject({
  notices: z.array(noticeSchema).min(1),
  text: z.string().max(20_000).describe('The message to the model, as each later request has it'),
});
export type Notified = z.infer<typeof notifiedSchema>;

/** When a run turned from a model to the next, and why. */
export const modelLeftSchema = z.strictObject({ at: z.iso.datetime(), code: z.string() });
export type ModelLeft = z.infer<typeof modelLeftSchema>;

/** A model did not answer. The request is repeated later. */
export const modelRetryingSchema = z.strictObject({
  model: z.string().describe('The model that could not be asked'),
  next: z.string().describe('The model that is asked next'),
  failures: z.int().min(0).describe('In a row, over all models; 0: no request was sent, because others failed'),
  tries: z.int().min(0).describe('Failures in a row of this model'),
  since: z.iso.datetime().describe('When the wait began'),
  until: z.iso.datetime().describe('When it is asked again'),
  reason: problemSchema,
  queued: z.literal(true).optional().describe('It waits for its turn at the provider, and may be asked before `until`'),
  usage: modelUsageSchema.optional().describe('What an answer used that the provider withheld'),
  left: z.record(z.string(), modelLeftSchema).optional().describe('The models that the run turned from'),
});
export type ModelRetrying = z.infer<typeof modelRetryingSchema>;
