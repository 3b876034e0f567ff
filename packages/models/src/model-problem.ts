import { ModelError, type ModelErrorCode } from './errors.ts';
import { type ModelProvider, parseModelName } from './model-name.ts';
import type { ModelSettings } from './settings.ts';

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
