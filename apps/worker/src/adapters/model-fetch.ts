import { Agent, fetch } from 'undici';

const longestAnswer = 30 * 60_000;

/**
 * fetch for model requests: answers are not streamed, and a local model may think for longer than the five minutes after which
 * Node's own gives up.
 */
export function modelFetch(): typeof globalThis.fetch {
  const dispatcher = new Agent({ headersTimeout: longestAnswer, bodyTimeout: longestAnswer });
  const send = (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
    fetch(input, { ...init, dispatcher });
  // The same standard under two sets of type declarations.
  return send as unknown as typeof globalThis.fetch;
}
