import type { LanguageModelMiddleware } from 'ai';
import type { z } from 'zod';

type Json = z.core.util.JSONType;
export interface JsonObject {
  [key: string]: Json;
}

export type CallArgs = { args: JsonObject; invalid?: undefined } | { args: Json; invalid: string };

/**
 * Reads the arguments of a model's call. Never throws: unusable arguments are data for the planner.
 *
 * @param refused whether `input` is a text unparsable for the SDK
 */
export function readCallArgs(input: unknown, refused: boolean): CallArgs {
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
