import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, ConnectionError } from './errors.ts';
import type { Request, Transport } from './request.ts';
import { readEvents, type ServerSentEvent } from './sse.ts';

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
