import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, ConnectionError } from './errors.ts';
import type { Request, Transport } from './request.ts';

/** Pauses between tries to reconnect, ms. A server restarts within their sum. */
const pauses = [100, 250, 500, 1000, 2000, 4000, 4000, 4000, 4000, 4000];

/**
 * Server-sent events that continue after a lost connection. Ends when the consumer stops.
 * @param requestFor makes the request that continues the stream; called before each try
 * @throws ApiError what the server refuses; ConnectionError after the last try in a row without any event
 */
export async function* follow(
  transport: Transport,
  requestFor: () => Request,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  let failures = 0;
  for (;;) {
    try {
      for await (const event of open(transport, requestFor(), signal)) {
        failures = 0;
        yield event;
      }
      // A stream of this API ends with an `end` event; any other end is a lost connection.
      throw transport.lost(new Error('the stream was cut off'));
    } catch (error) {
      if (!mayReconnect(error)) throw error;
      const pause = pauses[failures++];
      if (pause === undefined) throw error;
      await delay(pause, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function* open(
  transport: Transport,
  request: Request,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  const gone = new AbortController();
  const either = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal]);
  try {
    const headers = { ...request.headers, accept: 'text/event-stream' };
    const response = await transport.send({ ...request, headers, signal: either });
    if (response.body === null) return;
    yield* guarded(transport, readEvents(response.body), signal);
  } finally {
    // Ends the request when the consumer stops in the middle.
    gone.abort();
  }
}

/** An error while reading is a lost connection, unless the caller aborted. */
async function* guarded(
  transport: Transport,
  events: AsyncGenerator<ServerSentEvent>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  for (;;) {
    let next: IteratorResult<ServerSentEvent>;
    try {
      next = await events.next();
    } catch (error) {
      signal?.throwIfAborted();
      throw transport.lost(error);
    }
    if (next.done) return;
    yield next.value;
  }
}

const mayReconnect = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && error.retryable);

/** One server-sent event. */
export interface ServerSentEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Reads a text/event-stream (WHATWG HTML, 9.2.6). Skips comments and events without data. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
}

/** Complete lines only: drops the rest of a line that a cut connection left. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const whole = rest.split(/\r\n|\n|\r(?!$)/);
    rest = whole.pop() ?? '';
    yield* whole;
  }
}
