import { isJsonObject } from './call-args.ts';
import { usedIds } from './call-ids.ts';
import type { ModelAnswer, ModelImage, ModelMessage } from './port.ts';
import { type ReplayPart, unpackReplay } from './replay.ts';

type Result = (ModelMessage & { role: 'tool' })['results'][number];

interface TextPart {
  type: 'text';
  text: string;
}

interface ImagePart {
  type: 'file';
  data: { type: 'data'; data: string };
  mediaType: string;
}

interface ResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string } | { type: 'content'; value: (TextPart | ImagePart)[] };
}

/** A message in the form of the SDK. */
export type SentMessage =
  | { role: 'user'; content: string | (TextPart | ImagePart)[] }
  | { role: 'assistant'; content: ReplayPart[] }
  | { role: 'tool'; content: ResultPart[] };

/**
 * Converts the conversation to the messages for `model`.
 * An answer of the same model goes back unchanged. An answer of another model is rebuilt from its text and calls:
 * some providers refuse foreign reasoning, and some ids have characters that other providers forbid.
 */
export function toSentMessages(messages: readonly ModelMessage[], model: string): SentMessage[] {
  /** The sent id by our id, for the calls that are sent. */
  const ids = new Map<string, string>();
  const taken = usedIds(messages);
  return messages.flatMap((message): SentMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: withImages(message.text, message.images) ?? message.text }];
      case 'assistant':
        return [{ role: 'assistant', content: sentAnswer(message.answer, model, { ids, taken }) }];
      case 'tool':
        return sentResults(message.results, ids);
      default:
        return message satisfies never;
    }
  });
}

/** `taken`: the ids of all calls, including rebuilt ids. */
interface Ids {
  ids: Map<string, string>;
  taken: Set<string>;
}

function sentAnswer(answer: ModelAnswer, model: string, known: Ids): ReplayPart[] {
  const { ids } = known;
  const parts = unpackReplay(answer, model) ?? rebuilt(answer, known);
  for (const part of parts) {
    if (part.type === 'tool-call' && !ids.has(part.toolCallId)) ids.set(part.toolCallId, part.toolCallId);
  }
  // No provider accepts an empty assistant message.
  return parts.length > 0 ? parts : [{ type: 'text', text: '(no answer)' }];
}

function rebuilt(answer: ModelAnswer, { ids, taken }: Ids): ReplayPart[] {
  const text: ReplayPart[] = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
  const calls = answer.calls.map((call): ReplayPart => {
    const toolCallId = rebuiltId(ids.size, taken);
    ids.set(call.id, toolCallId);
    const input = call.invalid === undefined && isJsonObject(call.args) ? call.args : {};
    return { type: 'tool-call', toolCallId, toolName: call.tool, input };
  });
  return [...text, ...calls];
}

/** Continues the numbers of earlier calls, so a longer conversation begins with the same bytes, which providers cache. */
function rebuiltId(from: number, taken: Set<string>): string {
  for (let n = from; ; n++) {
    const id = `rebuilt_${n}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

/** A result whose call is not sent, because the provider dropped it, becomes a user message: providers refuse a result without its call. */
function sentResults(results: readonly Result[], ids: Map<string, string>): SentMessage[] {
  const content: ResultPart[] = [];
  const orphans: string[] = [];
  for (const result of results) {
    const toolCallId = ids.get(result.id);
    const value = worded(result);
    if (toolCallId === undefined) orphans.push(`Result of your call ${result.tool}: ${value}`);
    else {
      const shown = withImages(value, result.images);
      const output: ResultPart['output'] =
        shown === undefined
          ? { type: result.is_error ? 'error-text' : 'text', value }
          : { type: 'content', value: shown };
      content.push({ type: 'tool-result', toolCallId, toolName: result.tool, output });
    }
  }
  const sent: SentMessage[] = [];
  if (content.length > 0) sent.push({ role: 'tool', content });
  if (orphans.length > 0) sent.push({ role: 'user', content: orphans.join('\n') });
  return sent;
}

/** Results for OpenAI-compatible servers have no error flag, so the text must name the error. */
function worded(result: Result): string {
  return result.is_error && !/^error\b/i.test(result.text) ? `Error: ${result.text}` : result.text;
}

function withImages(text: string, images: readonly ModelImage[] = []): (TextPart | ImagePart)[] | undefined {
  if (images.length === 0) return undefined;
  const shown = images.map(
    ({ media_type, data }): ImagePart => ({ type: 'file', data: { type: 'data', data }, mediaType: media_type }),
  );
  return [{ type: 'text', text }, ...shown];
}
