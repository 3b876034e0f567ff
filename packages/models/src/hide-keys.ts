import type { ModelSettings } from './settings.ts';

/** Providers repeat a refused key in their error; it must not reach a log. */
export function hideKeys(settings: ModelSettings, text: string): string {
  const { openai, anthropic, google, openaiCompatible } = settings;
  return [openai, anthropic, google, openaiCompatible].reduce(
    // A short "key" for a local server is no secret, and its letters may be part of any word.
    (hidden, of) => (of?.apiKey && of.apiKey.length >= 8 ? hidden.replaceAll(of.apiKey, '[key]') : hidden),
    text,
  );
}
