import { Agent, fetch, Response } from 'undici';

const longestAnswer = 30 * 60_000;
/** An answer of 128,000 tokens has half of it. What is parsed holds up every run of this worker. */
const mostBytes = 2 * 1024 * 1024;

/**
 * fetch for model requests: answers are not streamed, and a local model may think for longer than the five minutes after which
 * Node's own gives up.
 */
export function modelFetch(): typeof globalThis.fetch {
  const dispatcher = new Agent({ headersTimeout: longestAnswer, bodyTimeout: longestAnswer });
  const send = async (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) =>
    bounded(await fetch(input, { ...init, dispatcher }));
  // The same standard under two sets of type declarations.
  return send as unknown as typeof globalThis.fetch;
}

/** The same answer, whose body fails past the bound. */
function bounded(answer: Response): Response {
  if (answer.body === null) return answer;
  let bytes = 0;
  const meter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= mostBytes) controller.enqueue(chunk);
      else controller.error(new TypeError(`The answer of the provider has more than ${mostBytes} bytes.`));
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(meter), { status, statusText, headers });
}
