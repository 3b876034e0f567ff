import { unusableAnswer } from '@holdpoint/models';
import type { TextThreads } from '@holdpoint/tools';
import type { Response as Answer, RequestInfo, RequestInit } from 'undici';

const longestAnswer = 30 * 60_000;
/** Four times an answer of 128,000 tokens. */
const mostBytes = 2 * 1024 * 1024;

/**
 * fetch for model requests: a local model may think for longer than five minutes, the limit of Node's own fetch. A whole answer above the
 * bounds fails the request, because parsing the answer would block every run of this worker. The model port bounds streams.
 */
export function modelFetch(texts: TextThreads): typeof globalThis.fetch {
  let loaded: ReturnType<typeof loadUndici> | undefined;
  const never = new AbortController().signal;
  const send = async (input: RequestInfo, init?: RequestInit) => {
    loaded ??= loadUndici();
    const { fetch, Response, dispatcher } = await loaded;
    const answer = await fetch(input, { ...init, dispatcher });
    if (answer.ok && isStream(answer)) return answer;
    const body = await readBody(answer);
    const weighed = await texts.of('models', init?.signal ?? never).run('weigh', { text: body.toString() });
    if (!weighed.ok) throw unusableAnswer(weighed.reason);
    const { status, statusText, headers } = answer;
    return new Response(answer.body === null ? null : new Uint8Array(body), { status, statusText, headers });
  };
  // The same standard under two sets of type declarations.
  return send as unknown as typeof globalThis.fetch;
}

/** Loaded for the first request: a worker whose runs ask no model needs none of its 110 modules. */
async function loadUndici() {
  const { Agent, fetch, Response } = await import('undici');
  return { fetch, Response, dispatcher: new Agent({ headersTimeout: longestAnswer, bodyTimeout: longestAnswer }) };
}

const isStream = ({ headers }: Answer): boolean => /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');

async function readBody({ body }: Answer): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) throw unusableAnswer(`has more than ${mostBytes} bytes`);
  }
  return Buffer.concat(chunks);
}
