import { isJsonObject, readCallArgs } from './call-args.ts';
import { newCallId, usedIds } from './call-ids.ts';
import type { ModelAnswer, ModelMessage, ModelToolCall } from './port.ts';
import { packReplay } from './replay.ts';

/** A part of an answer from the SDK, in order. */
export type AnswerPart =
  | { type: 'text' | 'reasoning'; text: string; metadata: unknown }
  | {
      type: 'call';
      id: string;
      tool: string;
      input: unknown;
      refused: boolean;
      metadata: unknown;
      /** The input came as a plain text, which has no end of its own. */
      isText?: true;
    };

export interface RawAnswer {
  model: string;
  parts: readonly AnswerPart[];
  finish: string;
  /** The provider's message about a call dropped as unreadable (Gemini). */
  droppedCall?: string | undefined;
  /** Whether call arguments arrive as JSON text, complete when parsable, or as parsed values. */
  argsAsText: boolean;
  usage: ModelAnswer['usage'];
  /** To send back with the whole message, unchanged. */
  metadata?: unknown;
  /** As the provider names them. */
  answered?: ModelAnswer['answered'];
}

/** The tool name for a call unreadable for the provider. */
const unreadableCall = 'unreadable_call';

/** Converts an answer of the SDK into our format: reads the arguments and keeps every part for the replay. The ids are already unique. */
export function readAnswer(raw: RawAnswer, messages: readonly ModelMessage[]): ModelAnswer {
  const calls: ModelToolCall[] = [];
  const parts: unknown[] = [];
  for (const [index, part] of raw.parts.entries()) {
    if (part.type !== 'call') {
      parts.push({ type: part.type, text: part.text, providerOptions: part.metadata });
      continue;
    }
    const cut = raw.finish === 'length' && index === raw.parts.length - 1;
    const call = readCall(part, cut && (!raw.argsAsText || part.isText === true), cut);
    calls.push(call);
    parts.push({
      type: 'tool-call',
      toolCallId: call.id,
      toolName: call.tool,
      // Providers accept only an object. The result of an invalid call names the mistake.
      input: call.invalid === undefined && isJsonObject(call.args) ? call.args : {},
      providerOptions: part.metadata,
    });
  }
  if (raw.droppedCall !== undefined) {
    const args = raw.droppedCall;
    const id = newCallId(new Set([...usedIds(messages), ...calls.map((call) => call.id)]));
    calls.push({ id, tool: unreadableCall, args, invalid: `The call could not be read: ${args}` });
  }
  return {
    model: raw.model,
    text: textOf(raw.parts),
    calls,
    finish: finishOf(raw.finish, calls.length > 0),
    usage: raw.usage,
    provider: packReplay(parts, raw.metadata),
    answered: raw.answered,
  };
}

function readCall(part: AnswerPart & { type: 'call' }, doubtful: boolean, cut: boolean): ModelToolCall {
  const read = readCallArgs(part.input, part.refused);
  const named = { id: part.id, tool: part.tool };
  const limit = 'The call was cut off at the output limit.';
  // A cut object looks complete: a tool would write half of a file's content.
  if (doubtful) return { ...named, args: read.args, invalid: limit };
  if (read.invalid === undefined) return { ...named, args: read.args };
  return { ...named, args: read.args, invalid: cut ? `${limit} ${read.invalid}` : read.invalid };
}

function finishOf(finish: string, hasCalls: boolean): ModelAnswer['finish'] {
  if (finish === 'length') return 'length';
  if (finish === 'content-filter') return 'content_filter';
  // Some servers say `stop` in an answer with calls.
  if (hasCalls) return 'tool_calls';
  return finish === 'stop' ? 'stop' : 'other';
}

function textOf(parts: readonly AnswerPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
