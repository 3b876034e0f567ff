import { z } from 'zod';

/** A tool as seen by a model. `parameters` is JSON Schema and is sent unchanged. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  /** The name of its only argument, a text. Models that have calls with a plain text write it as such, without the escapes of JSON. */
  freeText?: string | undefined;
}

const modelToolCallSchema = z.strictObject({
  /** The provider's id for this call, or Holdpoint's own id when the provider's is missing or repeated. Unique within the conversation. */
  id: z.string(),
  /** The name written by the model. No tool need have this name. */
  tool: z.string(),
  /** The arguments, not checked against the tool's schema. When `invalid` is set: the received value, usually the raw text. */
  args: z.json(),
  /** Why the arguments cannot be used. Such a call must not run: its result reports the reason to the model. */
  invalid: z.string().optional(),
});
export type ModelToolCall = z.infer<typeof modelToolCallSchema>;

/** A model's whole answer. The engine records the answer before its calls run. */
export const modelAnswerSchema = z.strictObject({
  /** The requested `provider/model`. */
  model: z.string(),
  text: z.string(),
  calls: z.array(modelToolCallSchema),
  /** `length`: the output limit cut the answer. The cut call is `invalid`; the other calls are complete. */
  finish: z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'other']),
  /** Tokens; 0 when the provider does not report them. */
  usage: z.strictObject({
    /** All tokens of the request, the cached ones included. */
    input_tokens: z.int(),
    /** All tokens of the answer, its reasoning included. */
    output_tokens: z.int(),
    /** Tokens of the request from the provider's cache. */
    cached_input_tokens: z.int().optional(),
    /** Tokens of the request written to the provider's cache. */
    cache_write_tokens: z.int().optional(),
    reasoning_tokens: z.int().optional(),
  }),
  /** The answer in the adapter's own shape (signatures, item ids, encrypted reasoning), for an exact replay. Opaque. */
  provider: z.json(),
  /** The answering model and the id of the answer, in the provider's words. No part of the conversation. */
  answered: z.strictObject({ model: z.string().optional(), id: z.string().optional() }).optional(),
});
export type ModelAnswer = z.infer<typeof modelAnswerSchema>;

/** An image, or a PDF whose pages the provider turns into images. */
const modelImageSchema = z.strictObject({
  media_type: z.string(),
  /** Base64. Empty for a kept image, until a request needs its bytes. */
  data: z.string(),
  /** Pixels, as far as known. */
  width: z.int().optional(),
  height: z.int().optional(),
  /** The number of pages of a PDF. */
  pages: z.int().optional(),
  /** The text of a PDF, for a model without PDF input. */
  text: z.string().optional(),
  /** An image kept by its digest, apart from the conversation. */
  kept: z.strictObject({ sha256: z.string(), bytes: z.int() }).optional(),
});
export type ModelImage = z.infer<typeof modelImageSchema>;

/** The conversation in our format. The engine persists the conversation: `JSON.parse(JSON.stringify(…))` leaves the content unchanged. */
export const modelMessageSchema = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    text: z.string(),
    /** Shown after the text. */
    images: z.array(modelImageSchema).optional(),
  }),
  z.strictObject({ role: z.literal('assistant'), answer: modelAnswerSchema }),
  z.strictObject({
    role: z.literal('tool'),
    /** A result for each call of the previous answer, including `invalid` calls: providers refuse a call without a result. */
    results: z.array(
      z.strictObject({
        id: z.string(),
        tool: z.string(),
        text: z.string(),
        is_error: z.boolean(),
        images: z.array(modelImageSchema).optional(),
      }),
    ),
  }),
]);
export type ModelMessage = z.infer<typeof modelMessageSchema>;

/** The amount of a model's reasoning before its answer. */
export type ReasoningEffort = 'none' | 'low' | 'medium' | 'high' | 'max';

/** An addition to a streamed answer. */
export type ModelDelta =
  | { type: 'text' | 'reasoning'; text: string }
  /** `index` counts the calls of the answer from 0. `args` continues the JSON text of the arguments. The first delta of a call has `tool`. */
  | { type: 'call'; index: number; tool?: string; args: string };

export interface ModelRequest {
  /** `provider/model`, e.g. `anthropic/claude-sonnet-4-5`. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** @default the longest answer of the model, else 8192 */
  maxOutputTokens?: number | undefined;
  /** Left out for a model without this option. */
  temperature?: number | undefined;
  /** The nearest effort known to the model. @default the provider's */
  reasoningEffort?: ReasoningEffort | undefined;
  /** Whether the provider should cache the conversation. @default true */
  cache?: boolean | undefined;
  /** Requests with the same key share a cache, where a provider routes by the key. The id of the run. */
  cacheKey?: string | undefined;
  signal: AbortSignal;
  /** Asks for a stream, and receives each part of the answer at its arrival. The answer is the same as without. */
  onDelta?: ((delta: ModelDelta) => void) | undefined;
  /** Receives the tokens of a stream that began and brought no whole answer: aborted, cut off, or unusable. */
  onCut?: ((used: UsedByCut) => void) | undefined;
}

/** The tokens of a request without an answer. The provider bills them as well. */
export interface UsedByCut {
  usage: ModelAnswer['usage'];
  /** The counts that the provider did not report before the end, estimated from the texts. The output is at least what arrived. */
  estimated: ('input' | 'output')[];
}

export interface Model {
  /**
   * Gets an answer with a single HTTP request, without retries.
   * @throws ModelError with `retryable` and the provider's `retryAfterMs`; the reason of an aborted signal
   */
  generate(request: ModelRequest): Promise<ModelAnswer>;
}
