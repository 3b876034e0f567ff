import { createAiSdkModel } from './ai-sdk-adapter.ts';
import type { Model } from './port.ts';
import type { ModelSettings } from './settings.ts';

export interface ModelsOptions {
  settings: ModelSettings;
  /** Sends the requests. Node's own fetch gives up when no answer begins within 300 s. @default globalThis.fetch */
  fetch?: typeof globalThis.fetch;
  /** Epoch milliseconds, for retry-after dates. @default Date.now */
  now?: () => number;
}

/**
 * Opens the model port. Makes no request and holds no connection of its own.
 *
 * @example
 * const model = openModels({ settings: modelSettingsFrom(env) });
 * const answer = await model.generate({ model: 'anthropic/claude-sonnet-4-5', system, messages, tools, signal });
 */
export function openModels({ settings, fetch, now }: ModelsOptions): Model {
  const send = fetch ?? globalThis.fetch;
  return createAiSdkModel({
    settings,
    // A followed redirect would send the key and the conversation to another host, so a redirect is reported as a refusal.
    fetch: (input, init) => send(input, { ...init, redirect: 'manual' }),
    now: now ?? Date.now,
  });
}
