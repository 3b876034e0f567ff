import { openai } from '@ai-sdk/openai';
import { type JSONSchema7, jsonSchema, type Tool } from 'ai';
import { parseModelName } from './model-name.ts';
import type { ModelRequest, ModelTool } from './port.ts';

/** OpenAI's models from GPT-5 on take tools whose input is a plain text (developers.openai.com, function calling, custom tools). */
const takesTexts = /^(?:gpt-(?:[5-9]|\d\d)|codex)(?:[-.\d]|$)/i;

/** The argument of each tool of a request whose calls are plain texts, by the tool's name. */
export type FreeTexts = ReadonlyMap<string, string>;

export function freeTextsOf({ model, tools }: Pick<ModelRequest, 'model' | 'tools'>): FreeTexts {
  const named = parseModelName(model);
  if (named.provider !== 'openai' || !takesTexts.test(named.model)) return new Map();
  return new Map(tools.flatMap(({ name, freeText }) => (freeText === undefined ? [] : [[name, freeText]])));
}

/** A tool in the form of the SDK. */
export const sdkTool = ({ name, description, parameters }: ModelTool, texts: FreeTexts): Tool =>
  texts.has(name)
    ? openai.tools.customTool({ description })
    : { description, inputSchema: jsonSchema(parameters as JSONSchema7) };
