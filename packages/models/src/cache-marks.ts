/** The read fields of a Chat Completions body. */
interface Body {
  messages?: Message[];
}
interface Message {
  role?: string;
  content?: string | Record<string, unknown>[];
}

const mark = { cache_control: { type: 'ephemeral' } } as const;

/**
 * Whether a model of a Chat Completions server is Anthropic's, by the names of OpenRouter and LiteLLM: Anthropic's models cache only up to
 * a mark.
 */
export const needsMarks = (model: string): boolean => model.startsWith('anthropic/');

/**
 * The body with marks for Anthropic's cache in the places of the Anthropic adapter: at the end of the system text, of the conversation, and
 * of the conversation before the last answer. A text is marked as a part of its content, and a result as a message.
 */
export function withCacheMarks(body: Body): Body {
  const { messages } = body;
  if (messages === undefined) return body;
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  const system = messages.findLastIndex(({ role }) => role === 'system');
  const marked = new Set([system, lastAnswer - 1, messages.length - 1]);
  return { ...body, messages: messages.map((message, index) => (marked.has(index) ? withMark(message) : message)) };
}

function withMark(message: Message): Message {
  const { role, content } = message;
  if (role !== 'system' && role !== 'user') return { ...message, ...mark };
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return { ...message, content: parts.map((part, index) => (index === last ? { ...part, ...mark } : part)) };
}
