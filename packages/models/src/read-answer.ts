import type { LanguageModelMiddleware } from 'ai';
import type { z } from 'zod';
import type { ModelAnswer, ModelMessage, ModelToolCall } from './port.ts';
import { packReplay } from './replay.ts';

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
function newCallId(used: Set<string>): string {
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

type Json = z.core.util.JSONType;
export interface JsonObject {
  [key: string]: Json;
}

type CallArgs = { args: JsonObject; invalid?: undefined } | { args: Json; invalid: string };

/**
 * Reads the arguments of a model's call. Never throws: unusable arguments are data for the planner.
 *
 * @param refused whether `input` is a text unparsable for the SDK
 */
function readCallArgs(input: unknown, refused: boolean): CallArgs {
  // Models write no arguments for a tool without parameters.
  if (input === undefined || input === null || (typeof input === 'string' && input.trim() === '')) return { args: {} };
  if (typeof input === 'string' && refused) return { args: input, invalid: whyRefused(input) };
  if (input === tooDeep) return { args: {}, invalid: tooDeep };
  const args = input as Json;
  return isJsonObject(args) ? { args } : { args, invalid: `The arguments must be a JSON object, not ${kindOf(args)}.` };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function whyRefused(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value)
      ? 'The arguments hold a key that is not allowed (__proto__ or constructor).'
      : `The arguments must be a JSON object, not ${kindOf(value)}.`;
  } catch (error) {
    return `The arguments are not JSON: ${(error as SyntaxError).message}`;
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === null ? 'null' : `a ${typeof value}`;
}

/** Nested arrays and objects. The SDK, and the code for validation and storage of arguments, recurse once per level. */
const deepestArgs = 90;

/** Replaces arguments with too many levels. */
const tooDeep = `The arguments had more than ${deepestArgs} levels of arrays and objects.`;

/** Replaces arguments with too many levels before the SDK reads them. */
export const boundArgsDepth: LanguageModelMiddleware = {
  specificationVersion: 'v4',
  async wrapGenerate({ doGenerate }) {
    const answer = await doGenerate();
    const content = answer.content.map((part) =>
      part.type === 'tool-call' && isDeeperThan(deepestArgs, part.input)
        ? { ...part, input: JSON.stringify(tooDeep) }
        : part,
    );
    return { ...answer, content };
  },
};

/** Counts the brackets of JSON text outside its strings in a single pass. A hostile text could make a parser or a pattern slow. */
function isDeeperThan(levels: number, json: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (inString && character === '\\') at += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

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
