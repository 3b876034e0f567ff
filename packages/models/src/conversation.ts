import { isJsonObject } from './call-args.ts';
import { usedIds } from './call-ids.ts';
import type { ModelAnswer, ModelMessage } from './port.ts';
import { type ReplayPart, unpackReplay } from './replay.ts';

type Result = (ModelMessage & { role: 'tool' })['results'][number];

interface ResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string };
}

/** A message in the SDK's form, structurally. */
export type SentMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: ReplayPart[] }
  | { role: 'tool'; content: ResultPart[] };

/**
 * Maps the conversation to what is sent to `model`.
 * An answer of the same model goes back exactly as it came. One of another model is rebuilt from its text and calls:
 * foreign reasoning is refused by some providers, and foreign ids have characters others forbid.
 */
export function toSentMessages(messages: readonly ModelMessage[], model: string): SentMessage[] {
  /** Our id → the id sent, for the calls that are sent. */
  const ids = new Map<string, string>();
  const taken = usedIds(messages);
  return messages.flatMap((message): SentMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: message.text }];
      case 'assistant':
        return [{ role: 'assistant', content: sentAnswer(message.answer, model, { ids, taken }) }];
      case 'tool':
        return sentResults(message.results, ids);
      default:
        return message satisfies never;
    }
  });
}

/** `taken`: every id that a call has or was given. */
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
  // No provider takes an empty assistant message.
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

/** Counts on from the calls before, so that a longer conversation begins with the same bytes: providers cache those. */
function rebuiltId(from: number, taken: Set<string>): string {
  for (let n = from; ; n++) {
    const id = `rebuilt_${n}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}

/** A result whose call is not sent (the provider itself dropped it) is said in the user's voice: alone it would be refused. */
function sentResults(results: readonly Result[], ids: Map<string, string>): SentMessage[] {
  const content: ResultPart[] = [];
  const orphans: string[] = [];
  for (const result of results) {
    const toolCallId = ids.get(result.id);
    const value = worded(result);
    if (toolCallId === undefined) orphans.push(`Result of your call ${result.tool}: ${value}`);
    else {
      const type = result.is_error ? 'error-text' : 'text';
      content.push({ type: 'tool-result', toolCallId, toolName: result.tool, output: { type, value } });
    }
  }
  const sent: SentMessage[] = [];
  if (content.length > 0) sent.push({ role: 'tool', content });
  if (orphans.length > 0) sent.push({ role: 'user', content: orphans.join('\n') });
  return sent;
}

/** OpenAI-compatible servers get results without an error flag: the words must say it. */
function worded(result: Result): string {
  return result.is_error && !/^error\b/i.test(result.text) ? `Error: ${result.text}` : result.text;
}
