import type { ModelDelta, ModelRequest, UsedByCut } from './port.ts';
import { tokensOf, tokensOfImage, tokensOfMessage, tokensOfTools } from './tokens.ts';

/** Counts the tokens of a stream until its end or its cut. */
export class CutUsage {
  #hasBegun = false;
  #arrived = 0;
  #input: Pick<UsedByCut['usage'], 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens'> | undefined;
  #output = 0;

  /** Reads an event as the provider wrote it. */
  event(raw: unknown): void {
    // An overloaded provider answers with a stream of one error, and bills nothing.
    if (field(raw, 'type') === 'error' || (field(raw, 'error') ?? null) !== null) return;
    this.#hasBegun = true;
    const usage = usageIn(raw);
    if (usage?.input !== undefined) this.#input = usage.input;
    this.#output = Math.max(this.#output, usage?.output ?? 0);
  }

  delta(delta: ModelDelta): void {
    this.#arrived += tokensOf(delta.type === 'call' ? `${delta.tool ?? ''}${delta.args}` : delta.text);
  }

  /** @returns undefined when nothing arrived: a refused request is not billed */
  of(request: ModelRequest): UsedByCut | undefined {
    if (!this.#hasBegun) return undefined;
    const input = this.#input ?? { input_tokens: Math.ceil(tokensOfRequest(request)) };
    const output_tokens = Math.max(this.#output, Math.ceil(this.#arrived));
    return { usage: { ...input, output_tokens }, estimated: [...(this.#input ? [] : (['input'] as const)), 'output'] };
  }
}

const tokensOfRequest = ({ model, system, messages, tools }: ModelRequest): number =>
  messages.reduce(
    (sum, message) => sum + tokensOfMessage(message, (image) => tokensOfImage(model, image)),
    tokensOf(system) + tokensOfTools(tools),
  );

/** The first event of Anthropic, and every event of Google, has the tokens of the request. The OpenAI formats report at the end alone. */
function usageIn(raw: unknown) {
  const anthropic = field(field(raw, 'message'), 'usage') ?? field(raw, 'usage');
  const google = field(raw, 'usageMetadata');
  if (google !== undefined) {
    const [input_tokens, cached_input_tokens] = counts(google, 'promptTokenCount', 'cachedContentTokenCount');
    const [said = 0, thought = 0] = counts(google, 'candidatesTokenCount', 'thoughtsTokenCount');
    return {
      input: input_tokens === undefined ? undefined : { input_tokens, cached_input_tokens },
      output: said + thought,
    };
  }
  const [fresh, output] = counts(anthropic, 'input_tokens', 'output_tokens');
  const [read, written] = counts(anthropic, 'cache_read_input_tokens', 'cache_creation_input_tokens');
  if (fresh === undefined || field(raw, 'type') !== 'message_start') return { input: undefined, output };
  const input_tokens = fresh + (read ?? 0) + (written ?? 0);
  return { input: { input_tokens, cached_input_tokens: read, cache_write_tokens: written }, output };
}

/** A server may write anything. */
const counts = (of: unknown, ...names: string[]): (number | undefined)[] =>
  names.map((name) => {
    const value = field(of, name);
    const isCount = typeof value === 'number' && Number.isFinite(value) && value >= 0;
    return isCount ? Math.min(Math.round(value), mostTokens) : undefined;
  });

const mostTokens = 2 ** 40;

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
