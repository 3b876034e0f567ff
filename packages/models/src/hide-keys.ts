import type { ModelSettings } from './settings.ts';

/** Removes keys from a provider's error, which repeats a refused key: keys must not reach a log. */
export function hideKeys(settings: ModelSettings, text: string): string {
  const { openai, anthropic, google, openaiCompatible } = settings;
  return [openai, anthropic, google, openaiCompatible].reduce(
    // A short key for a local server is no secret, and its letters may be part of other words.
    (hidden, of) => (of?.apiKey && of.apiKey.length >= 8 ? hidden.replaceAll(of.apiKey, '[key]') : hidden),
    text,
  );
}
