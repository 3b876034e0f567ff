import { z } from 'zod';

/** One tool as a model sees it. `parameters` is JSON Schema, sent as it is. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

const modelToolCallSchema = z.strictObject({
  /** The provider's id for this call, or one of ours where the provider gives none or repeats one. Unique within the conversation. */
  id: z.string(),
  /** As the model wrote it: it may name no tool that was offered. */
  tool: z.string(),
  /** The arguments; when `invalid`, whatever came instead (usually the raw text). Not checked against the tool's schema. */
  args: z.json(),
  /** Why the arguments cannot be used. Such a call must not run: its result tells the model. */
  invalid: z.string().optional(),
});
export type ModelToolCall = z.infer<typeof modelToolCallSchema>;

/** A model's whole answer, as it is recorded before anything acts on it. */
export const modelAnswerSchema = z.strictObject({
  /** The name it was asked under, `provider/model`. */
  model: z.string(),
  text: z.string(),
  calls: z.array(modelToolCallSchema),
  /** `length`: cut at the output limit. A call that the limit cut is `invalid`; the others are whole. */
  finish: z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'other']),
  /** Tokens; 0 where the provider does not say. */
  usage: z.strictObject({ input_tokens: z.int(), output_tokens: z.int() }),
  /** The answer in the adapter's own shape (signatures, item ids, encrypted reasoning), to be replayed as it was. Opaque. */
  provider: z.json(),
});
export type ModelAnswer = z.infer<typeof modelAnswerSchema>;

/** The conversation in our own format. Persisted as it is; survives `JSON.parse(JSON.stringify(…))` unchanged. */
export const modelMessageSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), text: z.string() }),
  z.strictObject({ role: z.literal('assistant'), answer: modelAnswerSchema }),
  z.strictObject({
    role: z.literal('tool'),
    /** One result for every call of the answer before, `invalid` calls too: providers refuse a call without a result. */
    results: z.array(z.strictObject({ id: z.string(), tool: z.string(), text: z.string(), is_error: z.boolean() })),
  }),
]);
export type ModelMessage = z.infer<typeof modelMessageSchema>;

export interface ModelRequest {
  /** `provider/model`, e.g. `anthropic/claude-sonnet-4-5`. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** @default 8192 */
  maxOutputTokens?: number;
  signal: AbortSignal;
}

export interface Model {
  /**
   * One answer, by one HTTP request which is never retried here.
   * Throws `ModelError` (`retryable`, and `retryAfterMs` where the provider said it); when the signal aborts, its reason.
   */
  generate(request: ModelRequest): Promise<ModelAnswer>;
}
