import { createHash } from 'node:crypto';
import { ModelError, type ModelErrorCode } from './errors.ts';
import type { ModelSettings, ProviderSettings } from './settings.ts';

export const modelProviders = ['openai', 'openai-chat', 'anthropic', 'google', 'openai-compatible', 'ollama'] as const;
type ModelProvider = (typeof modelProviders)[number];

export interface ModelName {
  provider: ModelProvider;
  /** The provider's own name for the model, possibly with slashes and colons. */
  model: string;
}

/**
 * Reads `provider/model`, split at the first slash: `openai-compatible/meta-llama/llama-4` is the model `meta-llama/llama-4`.
 * @throws ModelError EMODELNAME
 */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/');
  const model = name.slice(slash + 1);
  if (slash < 1 || model === '' || /\s/.test(name)) {
    throw nameError(`"${name}" is not a model name: it must read provider/model.`);
  }
  const provider = modelProviders.find((known) => known === name.slice(0, slash));
  if (provider === undefined) {
    throw nameError(`"${name.slice(0, slash)}" is not a known model provider.`);
  }
  return { provider, model };
}

function nameError(message: string): ModelError {
  return new ModelError({
    code: 'EMODELNAME',
    message,
    next: `Name a model as provider/model, with one of these providers: ${modelProviders.join(', ')}.`,
  });
}

export interface ModelProblem {
  code: ModelErrorCode;
  message: string;
  next: string;
}

/** Why a model cannot be asked, found at submit time without a request; `null` when its settings are complete. */
export function describeModelProblem(name: string, settings: ModelSettings): ModelProblem | null {
  try {
    const { provider } = parseModelName(name);
    return missing(provider, name, settings);
  } catch (error) {
    if (error instanceof ModelError) return { code: error.code, message: error.message, next: error.next };
    throw error;
  }
}

function missing(provider: ModelProvider, name: string, settings: ModelSettings): ModelProblem | null {
  switch (provider) {
    case 'openai':
    case 'openai-chat':
      return settings.openai?.apiKey ? null : unset(name, 'an OpenAI API key', 'OPENAI_API_KEY');
    case 'anthropic':
      return settings.anthropic?.apiKey ? null : unset(name, 'an Anthropic API key', 'ANTHROPIC_API_KEY');
    case 'google':
      return settings.google?.apiKey
        ? null
        : unset(name, 'a Gemini API key', 'GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY)');
    case 'openai-compatible':
      return settings.openaiCompatible?.baseUrl
        ? null
        : unset(name, 'the address of an OpenAI-compatible server', 'OPENAI_COMPATIBLE_BASE_URL');
    case 'ollama':
      return null;
    default:
      return provider satisfies never;
  }
}

function unset(name: string, what: string, variable: string): ModelProblem {
  return {
    code: 'EMODELSETTINGS',
    message: `The model ${name} needs ${what}, and none is set.`,
    next: `Set ${variable} where the API and the workers run, and restart them.`,
  };
}

/** The account behind a request to a model, with limits of its own: a provider at its address, with a key. `digest` reveals neither. */
export interface ProviderAccount {
  provider: string;
  digest: string;
}

/** @throws ModelError EMODELNAME */
export function providerAccountOf(name: string, settings: ModelSettings): ProviderAccount {
  const { provider } = parseModelName(name);
  const account = accountProvider(provider);
  const of = settingsOf(provider, settings);
  const text = JSON.stringify([account, of?.baseUrl ?? '', of?.apiKey ?? '']);
  return { provider: account, digest: createHash('sha256').update(text).digest('hex').slice(0, 24) };
}

type Provider = ReturnType<typeof parseModelName>['provider'];

function settingsOf(provider: Provider, settings: ModelSettings): ProviderSettings | undefined {
  switch (provider) {
    case 'openai':
    case 'openai-chat':
      return settings.openai;
    case 'openai-compatible':
      return settings.openaiCompatible;
    default:
      return settings[provider];
  }
}

/** Two formats of the same provider share its limits. */
const accountProvider = (provider: Provider) => (provider === 'openai-chat' ? 'openai' : provider);

/** The values of an account's `provider`. */
export const accountProviders = [...new Set(modelProviders.map(accountProvider))];
