import { parseModelName } from './model-name.ts';
import type { ModelSettings, ProviderSettings } from './settings.ts';

/** The address of a provider's requests, and the headers with its key. */
export interface ProviderAddress {
  provider: string;
  /** The model in the provider's words. */
  model: string;
  /** Without a slash at the end: `https://api.anthropic.com/v1`. */
  base: string;
  headers: Record<string, string>;
}

/** The address of a model's provider, for a program that speaks the provider's own format. The name was checked. */
export function providerAddressOf(name: string, settings: ModelSettings): ProviderAddress {
  const { provider, model } = parseModelName(name);
  const at = (base: string, headers: Record<string, string>): ProviderAddress => ({ provider, model, base, headers });
  switch (provider) {
    case 'anthropic':
      return at(baseUrl(settings.anthropic?.baseUrl, 'https://api.anthropic.com', '/v1'), {
        'x-api-key': keyOf(settings.anthropic),
      });
    case 'google':
      return at(baseUrl(settings.google?.baseUrl, 'https://generativelanguage.googleapis.com', '/v1beta'), {
        'x-goog-api-key': keyOf(settings.google),
      });
    case 'openai':
    case 'openai-chat':
      return at(baseUrl(settings.openai?.baseUrl, 'https://api.openai.com', '/v1'), bearer(settings.openai));
    case 'openai-compatible':
      // No default path: servers differ.
      return at(baseUrl(settings.openaiCompatible?.baseUrl, '', ''), bearer(settings.openaiCompatible));
    case 'ollama':
      return at(baseUrl(settings.ollama?.baseUrl, 'http://127.0.0.1:11434', '/v1'), {});
    default:
      return provider satisfies never;
  }
}

const bearer = (settings: ProviderSettings | undefined): Record<string, string> =>
  keyOf(settings) === '' ? {} : { authorization: `Bearer ${keyOf(settings)}` };

export function keyOf(provider: ProviderSettings | undefined): string {
  return provider?.apiKey ?? '';
}

export function baseUrl(given: string | undefined, origin: string, path: string): string {
  const url = (given ?? origin).replace(/\/+$/, '');
  return new URL(url).pathname === '/' ? `${url}${path}` : url;
}
