import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { needsMarks, withCacheMarks } from './cache-marks.ts';
import { ModelError, unusableAnswer } from './errors.ts';
import { describeModelProblem, parseModelName } from './model-name.ts';
import { baseUrl, keyOf } from './provider-address.ts';
import type { ModelSettings } from './settings.ts';

/**
 * The reasoning of a model behind OpenRouter: blocks with texts, signatures and encrypted data, which go back with the answer as they came
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens). Without them a model begins to reason again after each call.
 */
const detailSchema = z.record(z.string(), z.json());
type Detail = z.output<typeof detailSchema>;

const messageSchema = z.object({ reasoning_details: z.array(detailSchema).nullish() });
const wholeSchema = z.object({ choices: z.array(z.object({ message: messageSchema })).min(1) });
const chunkSchema = z.object({ choices: z.array(z.object({ delta: messageSchema })).min(1) });

/** Characters, as many as of a whole answer. */
const mostCharacters = 2 * 1024 * 1024;

/** Keeps the blocks of an answer as its metadata. The SDK knows one field of reasoning, a text. */
export const reasoningDetails: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => asMetadata(wholeSchema.safeParse(parsedBody).data?.choices[0]?.message),
  createStreamExtractor() {
    const blocks: Detail[] = [];
    let characters = 0;
    return {
      processChunk(chunk) {
        const added = chunkSchema.safeParse(chunk).data?.choices[0]?.delta.reasoning_details ?? [];
        characters += added.length === 0 ? 0 : JSON.stringify(added).length;
        if (characters > mostCharacters) throw unusableAnswer(`has more than ${mostCharacters} characters`);
        for (const detail of added) addDetail(blocks, detail);
      },
      buildMetadata: () => asMetadata({ reasoning_details: blocks }),
    };
  },
};

/** The options of the SDK that it writes into a message as they are. */
const asMetadata = (message: z.output<typeof messageSchema> | undefined) =>
  message?.reasoning_details?.length
    ? { openaiCompatible: { reasoning_details: message.reasoning_details } }
    : undefined;

/** A block arrives in pieces with one index and one type: their texts follow each other, and a later signature completes it. */
function addDetail(blocks: Detail[], detail: Detail): void {
  const last = blocks.at(-1);
  const continues =
    last !== undefined && detail.index !== undefined && last.index === detail.index && last.type === detail.type;
  if (!continues || detail.type === 'reasoning.encrypted') {
    blocks.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const before = last[name];
    const isText = (name === 'text' || name === 'summary') && typeof before === 'string' && typeof value === 'string';
    if (isText) last[name] = before + value;
    else if (value !== null) last[name] = value;
  }
}

export interface ProviderDeps {
  settings: ModelSettings;
  fetch: typeof globalThis.fetch;
}

type RequestOptions = Record<string, Record<string, boolean | string>>;

/**
 * The provider's model for a name, and the options of each of its requests. Makes no request.
 * Always passes keys and URLs: the provider packages read missing ones from the environment of the process.
 * @throws ModelError EMODELNAME, EMODELSETTINGS
 */
export function openProviderModel(
  { settings, fetch }: ProviderDeps,
  name: string,
  { isCached, cacheKey }: { isCached: boolean; cacheKey: string | undefined },
) {
  const problem = describeModelProblem(name, settings);
  if (problem !== null) throw new ModelError(problem);
  const { provider, model } = parseModelName(name);
  const none: RequestOptions = {};
  const shared = !isCached || cacheKey === undefined ? none : { openai: { promptCacheKey: cacheKey.slice(0, 64) } };
  switch (provider) {
    case 'openai':
      return {
        model: openai().responses(model),
        // The provider stores nothing, because the conversation is stored here. Encrypted reasoning comes back with the answer.
        options: { openai: { ...shared.openai, store: false } },
      };
    case 'openai-chat':
      return { model: openai().chat(model), options: shared };
    case 'anthropic': {
      const baseURL = baseUrl(settings.anthropic?.baseUrl, 'https://api.anthropic.com', '/v1');
      return { model: createAnthropic({ apiKey: keyOf(settings.anthropic), baseURL, fetch })(model), options: none };
    }
    case 'google': {
      const baseURL = baseUrl(settings.google?.baseUrl, 'https://generativelanguage.googleapis.com', '/v1beta');
      return { model: createGoogle({ apiKey: keyOf(settings.google), baseURL, fetch })(model), options: none };
    }
    case 'openai-compatible': {
      // No default path: servers differ.
      const baseURL = baseUrl(settings.openaiCompatible?.baseUrl, '', '');
      const apiKey = keyOf(settings.openaiCompatible);
      const transformRequestBody = isCached && needsMarks(model) ? withCacheMarks : undefined;
      const usual = { name: provider, apiKey, baseURL, fetch, includeUsage: true };
      const server = { ...usual, transformRequestBody, metadataExtractor: reasoningDetails };
      return { model: createOpenAICompatible(server)(model), options: none };
    }
    case 'ollama': {
      const baseURL = baseUrl(settings.ollama?.baseUrl, 'http://127.0.0.1:11434', '/v1');
      return {
        model: createOpenAICompatible({ name: provider, apiKey: '', baseURL, fetch, includeUsage: true })(model),
        options: none,
      };
    }
    default:
      return provider satisfies never;
  }

  function openai() {
    const baseURL = baseUrl(settings.openai?.baseUrl, 'https://api.openai.com', '/v1');
    return createOpenAI({ apiKey: keyOf(settings.openai), baseURL, fetch });
  }
}
