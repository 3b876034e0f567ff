import type { z } from 'zod';
import { tooDeep } from './args-depth.ts';

type Json = z.core.util.JSONType;
export interface JsonObject {
  [key: string]: Json;
}

export type CallArgs = { args: JsonObject; invalid?: undefined } | { args: Json; invalid: string };

/**
 * Reads the arguments of a call that a model wrote. Never throws: unusable arguments are data for the planner.
 *
 * @param refused whether `input` is a text that the SDK could not parse
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
