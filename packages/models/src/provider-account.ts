import { createHash } from 'node:crypto';
import { parseModelName } from './model-name.ts';
import type { ModelSettings, ProviderSettings } from './settings.ts';

/** Whom a request for a model is billed to and limited by: the provider at its address, with its key. `digest` reveals neither. */
export interface ProviderAccount {
  provider: string;
  digest: string;
}

/** @throws ModelError EMODELNAME */
export function providerAccountOf(name: string, settings: ModelSettings): ProviderAccount {
  const { provider } = parseModelName(name);
  const of = settingsOf(provider, settings);
  const text = JSON.stringify([family(provider), of?.baseUrl ?? '', of?.apiKey ?? '']);
  return { provider, digest: createHash('sha256').update(text).digest('hex').slice(0, 24) };
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

/** Two formats of one provider share its limits. */
const family = (provider: Provider): string => (provider === 'openai-chat' ? 'openai' : provider);
