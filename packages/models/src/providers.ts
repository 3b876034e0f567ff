import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { needsMarks, withCacheMarks } from './cache-marks.ts';
import { ModelError } from './errors.ts';
import { describeModelProblem, parseModelName } from './model-name.ts';
import { baseUrl, keyOf } from './provider-address.ts';
import { reasoningDetails } from './reasoning-details.ts';
import type { ModelSettings } from './settings.ts';

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
