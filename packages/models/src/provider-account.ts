import { createHash } from 'node:crypto';
import { modelProviders, parseModelName } from './model-name.ts';
import type { ModelSettings, ProviderSettings } from './settings.ts';

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
