import { ModelError } from './errors.ts';

const modelProviders = ['openai', 'openai-chat', 'anthropic', 'google', 'openai-compatible', 'ollama'] as const;
export type ModelProvider = (typeof modelProviders)[number];

export interface ModelName {
  provider: ModelProvider;
  /** The provider's own name for the model, which may contain slashes and colons. */
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
