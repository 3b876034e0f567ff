import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Characters of text in one token: what a prefix of a request costs. */
const perToken = 4;

export interface CachingServer extends AsyncDisposable {
  url: string;
  /** Each request: all tokens, those that were not in the cache, and the text without the marks of the cache. */
  counted: { tokens: number; uncached: number; text: string; marks: number }[];
}

/**
 * A provider that keeps prefixes of requests, and counts what it reads without its cache. Anthropic's format: prefixes that end at a mark, found at
 * a mark or within the twenty parts before it. Others: any prefix. Each answer is one call of `read_file`, with the usage of the format.
 */
export async function openCachingServer(model: string): Promise<CachingServer> {
  const counted: CachingServer['counted'] = [];
  const kept = new Set<string>();
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const parts = partsOf(body);
    const text = parts.map((part) => part.text).join('\n');
    const cached = model.startsWith('anthropic/') ? readMarked(parts, kept) : longestPrefix(text, texts);
    texts.splice(0, texts.length, ...texts.slice(-2), text);
    const tokens = Math.ceil(text.length / perToken);
    const cachedTokens = Math.floor(cached / perToken);
    const marks = parts.filter((part) => part.isMarked).length;
    counted.push({ tokens, uncached: tokens - cachedTokens, text, marks });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answerOf(model, counted.length, tokens, cachedTokens)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Part {
  text: string;
  isMarked: boolean;
}

/** Tools, system text, then each part of each message, as providers read them. */
function partsOf(body: Record<string, unknown>): Part[] {
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
  const messages = list(body.messages ?? body.input ?? body.contents);
  const flat = messages.flatMap((message) => {
    const { content, ...rest } = message as Record<string, unknown>;
    return Array.isArray(content)
      ? content.map((part, index) => (index === 0 ? { ...rest, part } : { part }))
      : [message];
  });
  return [...list(body.tools), ...list(body.system ?? body.systemInstruction), ...flat].map((part) => {
    const text = JSON.stringify(part);
    return { text: text.replaceAll(/,?"cache_control":\{[^}]*\}/g, ''), isMarked: text.includes('"cache_control"') };
  });
}

function readMarked(parts: readonly Part[], kept: Set<string>): number {
  const marks = parts.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
  const prefix = (index: number) =>
    parts
      .slice(0, index + 1)
      .map(({ text }) => text)
      .join('\n');
  let found = 0;
  for (const mark of marks) {
    for (let back = mark; back >= 0 && back > mark - 20; back--) {
      if (!kept.has(prefix(back))) continue;
      found = Math.max(found, prefix(back).length);
      break;
    }
  }
  for (const mark of marks) kept.add(prefix(mark));
  return found;
}

function longestPrefix(text: string, texts: readonly string[]): number {
  return Math.max(0, ...texts.map((before) => commonLength(before, text)));
}

function commonLength(one: string, other: string): number {
  let [low, high] = [0, Math.min(one.length, other.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (one.slice(0, middle) === other.slice(0, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function answerOf(model: string, turn: number, tokens: number, cached: number): unknown {
  const args = { path: `file-${turn}.txt` };
  const call = { name: 'read_file', arguments: JSON.stringify(args) };
  switch (model.slice(0, model.indexOf('/'))) {
    case 'anthropic':
      return {
        ...{ id: `msg_${turn}`, type: 'message', role: 'assistant', model, stop_reason: 'tool_use' },
        content: [{ type: 'tool_use', id: `toolu_${turn}`, name: 'read_file', input: args }],
        usage: {
          ...{ input_tokens: 0, output_tokens: 5, cache_read_input_tokens: cached },
          cache_creation_input_tokens: tokens - cached,
        },
      };
    case 'google':
      return {
        candidates: [
          { content: { role: 'model', parts: [{ functionCall: { name: 'read_file', args } }] }, finishReason: 'STOP' },
        ],
        usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 5, cachedContentTokenCount: cached },
      };
    case 'openai':
      return {
        ...{ id: `resp_${turn}`, object: 'response', created_at: 1, status: 'completed', model },
        output: [{ type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, status: 'completed', ...call }],
        usage: { input_tokens: tokens, output_tokens: 5, input_tokens_details: { cached_tokens: cached } },
      };
    default:
      return {
        ...{ id: `c${turn}`, object: 'chat.completion', created: 1, model },
        choices: [
          {
            ...{ index: 0, finish_reason: 'tool_calls' },
            message: { role: 'assistant', tool_calls: [{ id: `call_${turn}`, type: 'function', function: call }] },
          },
        ],
        usage: { prompt_tokens: tokens, completion_tokens: 5, prompt_tokens_details: { cached_tokens: cached } },
      };
  }
}
