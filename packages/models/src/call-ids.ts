import type { LanguageModelMiddleware } from 'ai';
import type { ModelMessage } from './port.ts';

/** LiteLLM puts thought signatures into ids, and ids go back to the provider, so ids of a few thousand characters are legitimate. */
const longestId = 16_384;

/**
 * Gives each call of an answer an id unused by any other call of the conversation. The middleware runs below
 * `generateText`: `generateText` finds calls by id, and for calls with the same id returns the first call several times.
 */
export function uniqueCallIds(messages: readonly ModelMessage[]): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      const calls = result.content.filter((part) => part.type === 'tool-call');
      const written = writtenIds(result.response?.body);
      const ids = claimIds(
        calls.map(({ toolCallId }) => (written(toolCallId) ? toolCallId : '')),
        usedIds(messages),
      );
      let next = 0;
      const content = result.content.map((part) =>
        part.type === 'tool-call' ? { ...part, toolCallId: ids[next++] ?? part.toolCallId } : part,
      );
      return { ...result, content };
    },
  };
}

/**
 * Whether the provider wrote an id. For a call without an id the SDK makes a random id, and the same answer would read differently each
 * time.
 */
function writtenIds(body: unknown): (id: string) => boolean {
  if (body === undefined) return () => true;
  const strings = new Set<string>();
  // An explicit stack: a body may be nested more deeply than function calls.
  const open: unknown[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') strings.add(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) open.push(inner);
  }
  return (id) => strings.has(id);
}

/**
 * The first call with an id keeps the id, because some servers show the model its ids again. Calls without a usable id get an id from
 * Holdpoint.
 */
function claimIds(given: readonly string[], used: Set<string>): string[] {
  const kept = given.map((id) => {
    if (!isUsable(id) || used.has(id)) return undefined;
    used.add(id);
    return id;
  });
  return kept.map((id) => id ?? newCallId(used));
}

const isUsable = (id: string): boolean =>
  id.trim() !== '' && id.length <= longestId && !/\p{Cc}/u.test(id) && id.isWellFormed();

/** Reserves a new id. Nine letters and digits: Mistral accepts no other ids, and every provider accepts these. */
export function newCallId(used: Set<string>): string {
  for (let n = used.size + 1; ; n++) {
    const id = `call${String(n).padStart(5, '0')}`;
    if (used.has(id)) continue;
    used.add(id);
    return id;
  }
}

/** The ids of all calls of the conversation. */
export const usedIds = (messages: readonly ModelMessage[]): Set<string> =>
  new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? message.answer.calls.map(({ id }) => id) : [])),
  );
