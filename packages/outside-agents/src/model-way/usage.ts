import type { ModelAnswer } from '@holdpoint/models';

type Usage = ModelAnswer['usage'];

interface Counts {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
  input_tokens_details?: { cached_tokens?: number };
  output_tokens_details?: { reasoning_tokens?: number };
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
  promptTokenCount?: number;
  candidatesTokenCount?: number;
  cachedContentTokenCount?: number;
  thoughtsTokenCount?: number;
}

interface Part {
  usage?: Counts | null;
  message?: { usage?: Counts };
  response?: { usage?: Counts | null };
  usageMetadata?: Counts;
}

/**
 * Reads the tokens of an answer while it passes, in the formats of Anthropic, OpenAI and Google: a part of a stream may have them, and the last count of each
 * kind holds.
 */
export class UsageReader {
  #counts: Counts = {};
  #rest = '';
  #whole = '';
  readonly #isStream: boolean;
  readonly #text = new TextDecoder();

  constructor({ isStream }: { isStream: boolean }) {
    this.#isStream = isStream;
  }

  push(chunk: Uint8Array): void {
    const text = this.#text.decode(chunk, { stream: true });
    if (!this.#isStream) {
      if (this.#whole.length < mostText) this.#whole += text;
      return;
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, mostText);
    for (const line of lines) if (line.startsWith('data:')) this.#read(line.slice(5));
  }

  end(): Usage {
    this.#read(this.#isStream ? this.#rest.replace(/^data:/, '') : this.#whole);
    return toUsage(this.#counts);
  }

  #read(json: string): void {
    if (!/"usage(Metadata)?"/.test(json)) return;
    try {
      const { usage, message, response, usageMetadata } = JSON.parse(json) as Part;
      for (const counts of [message?.usage, usage, response?.usage, usageMetadata]) {
        if (typeof counts === 'object' && counts !== null) this.#counts = { ...this.#counts, ...counts };
      }
    } catch {
      // No JSON: nothing to count.
    }
  }
}

const mostText = 16 * 1024 * 1024;

function toUsage(counts: Counts): Usage {
  const cached =
    counts.cache_read_input_tokens ??
    counts.input_tokens_details?.cached_tokens ??
    counts.prompt_tokens_details?.cached_tokens ??
    counts.cachedContentTokenCount;
  const written = counts.cache_creation_input_tokens;
  // Anthropic's `input_tokens` are without the cached ones.
  const beside = (counts.cache_read_input_tokens ?? 0) + (written ?? 0);
  const thoughts = counts.thoughtsTokenCount ?? 0;
  const reasoning =
    counts.output_tokens_details?.reasoning_tokens ??
    counts.completion_tokens_details?.reasoning_tokens ??
    counts.thoughtsTokenCount;
  return {
    input_tokens: whole((counts.input_tokens ?? counts.prompt_tokens ?? counts.promptTokenCount ?? 0) + beside),
    output_tokens: whole(
      (counts.output_tokens ?? counts.completion_tokens ?? counts.candidatesTokenCount ?? 0) + thoughts,
    ),
    ...(cached !== undefined && { cached_input_tokens: whole(cached) }),
    ...(written !== undefined && { cache_write_tokens: whole(written) }),
    ...(reasoning !== undefined && { reasoning_tokens: whole(reasoning) }),
  };
}

/** A server may say anything. */
const whole = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? Math.floor(tokens) : 0);

export function addUsage(one: Usage, other: Usage): Usage {
  const sum = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
  const cached = sum(one.cached_input_tokens, other.cached_input_tokens);
  const written = sum(one.cache_write_tokens, other.cache_write_tokens);
  const reasoning = sum(one.reasoning_tokens, other.reasoning_tokens);
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    ...(cached !== undefined && { cached_input_tokens: cached }),
    ...(written !== undefined && { cache_write_tokens: written }),
    ...(reasoning !== undefined && { reasoning_tokens: reasoning }),
  };
}

export const noUsage: Usage = { input_tokens: 0, output_tokens: 0 };
