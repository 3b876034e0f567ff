import { z } from 'zod';

/** One tool as a model sees it. `parameters` is JSON Schema and is sent unchanged. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

const modelToolCallSchema = z.strictObject({
  /** The provider's id for this call, or our own when the provider gives none or repeats one. Unique within the conversation. */
  id: z.string(),
  /** The name that the model wrote. There may be no such tool. */
  tool: z.string(),
  /** The arguments, not checked against the tool's schema. When `invalid` is set: the received value, usually the raw text. */
  args: z.json(),
  /** Why the arguments cannot be used. Such a call must not run: its result reports the reason to the model. */
  invalid: z.string().optional(),
});
export type ModelToolCall = z.infer<typeof modelToolCallSchema>;

/** A model's whole answer. It is recorded before its calls run. */
export const modelAnswerSchema = z.strictObject({
  /** The requested `provider/model`. */
  model: z.string(),
  text: z.string(),
  calls: z.array(modelToolCallSchema),
  /** `length`: the output limit cut the answer. The cut call is `invalid`; the other calls are complete. */
  finish: z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'other']),
  /** Tokens; 0 when the provider does not report them. */
  usage: z.strictObject({ input_tokens: z.int(), output_tokens: z.int() }),
  /** The answer in the adapter's own shape (signatures, item ids, encrypted reasoning), for an exact replay. Opaque. */
  provider: z.json(),
  /** The model that answered and the id of the answer, as the provider names them. No part of the conversation. */
  answered: z.strictObject({ model: z.string().optional(), id: z.string().optional() }).optional(),
});
export type ModelAnswer = z.infer<typeof modelAnswerSchema>;

/** The conversation in our format. It is persisted and survives `JSON.parse(JSON.stringify(…))` unchanged. */
export const modelMessageSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), text: z.string() }),
  z.strictObject({ role: z.literal('assistant'), answer: modelAnswerSchema }),
  z.strictObject({
    role: z.literal('tool'),
    /** One result for each call of the previous answer, including `invalid` calls: providers refuse a call without a result. */
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
   * Gets one answer with one HTTP request, without retries.
   * @throws ModelError with `retryable` and the provider's `retryAfterMs`; the reason of the signal when it aborts
   */
  generate(request: ModelRequest): Promise<ModelAnswer>;
}
