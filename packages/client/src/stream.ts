import { setTimeout as delay } from 'node:timers/promises';
import { type LiveFrame, liveFrameSchema } from '@holdpoint/contract';
import { endOfStream, liveEvent, type RunEvent, runEventSchema } from '@holdpoint/contract/wire';
import { ApiError, ConnectionError } from './errors.ts';
import { type Request, read, type Transport } from './request.ts';

/** Pauses between tries to reconnect, ms. A server restarts within their sum. */
const usualPauses = [100, 250, 500, 1000, 2000, 4000, 4000, 4000, 4000, 4000];
/** The first pause after a stream that opened and sent nothing: a server that cuts every stream is asked twice a second. */
const afterOpening = 2;

/** How a stream lives through a lost connection. */
export interface Reconnecting {
  signal?: AbortSignal | undefined;
  /** Milliseconds without an open stream before the client gives up. @default about 24 s */
  patienceMs?: number | undefined;
  /** Pauses between tries; the last pause repeats while there is patience. @default up to 4 s */
  pausesMs?: readonly number[] | undefined;
  /** Called with each failure, before the pause. @param since milliseconds since the epoch, of the first failure in the row */
  onLost?: ((error: Error, since: number) => void) | undefined;
  /** Called when the stream is open again. */
  onFound?: (() => void) | undefined;
}

/**
 * Server-sent events, continued after a lost connection. Ends when the consumer stops.
 * @param requestFor makes the request to continue the stream; called before each try
 * @throws ApiError for a refusal of the server; ConnectionError after the last unsuccessful try in a row
 */
export async function* follow(
  transport: Transport,
  requestFor: () => Request,
  { signal, patienceMs, pausesMs: pauses = usualPauses, onLost, onFound }: Reconnecting = {},
): AsyncGenerator<ServerSentEvent> {
  let failures = 0;
  let lostAt: number | undefined;
  for (;;) {
    try {
      const onOpen = () => {
        failures = Math.min(failures, afterOpening);
        if (lostAt !== undefined) onFound?.();
        lostAt = undefined;
      };
      for await (const event of open(transport, requestFor(), signal, onOpen)) {
        failures = 0;
        yield event;
      }
      // A stream of this API ends with an `end` event; any other end is a lost connection.
      throw transport.lost(new Error('the stream was cut off'));
    } catch (error) {
      if (!mayReconnect(error)) throw error;
      lostAt ??= Date.now();
      const pause = pauses[failures++] ?? (patienceMs === undefined ? undefined : pauses.at(-1));
      if (pause === undefined || Date.now() - lostAt > (patienceMs ?? Number.POSITIVE_INFINITY)) throw error;
      onLost?.(error, lostAt);
      await delay(pause, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function* open(
  transport: Transport,
  request: Request,
  signal: AbortSignal | undefined,
  onOpen: () => void,
): AsyncGenerator<ServerSentEvent> {
  const gone = new AbortController();
  const either = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal]);
  try {
    const headers = { ...request.headers, accept: 'text/event-stream' };
    const response = await transport.send({ ...request, headers, signal: either });
    if (response.body === null) return;
    onOpen();
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

const mayReconnect = (error: unknown): error is Error =>
  error instanceof ConnectionError || (error instanceof ApiError && error.retryable);

/** A server-sent event. Without a name and data: only an id, from which a stream continues. */
export interface ServerSentEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Reads a text/event-stream (WHATWG HTML, 9.2.6). Skips comments, and events without data and without an id of their own. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let event = '';
  let id: string | undefined;
  let hasOwnId = false;
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      else if (hasOwnId) yield { id, event: '', data: '' };
      event = '';
      hasOwnId = false;
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') [id, hasOwnId] = [value, true];
  }
}

/** Complete lines only: drops the rest of a line cut off with its connection. */
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

/** A piece of a model's answer or a command's output, sent while the model writes or the command runs. */
export interface LiveText extends LiveFrame {
  type: 'live';
}

interface Following extends Reconnecting {
  path: string;
  /** The sequence number of the last known event. */
  after: number;
}

/** The events of a run, each once and in order, past lost connections, up to the last event. */
export async function* followRun(transport: Transport, following: Following): AsyncGenerator<RunEvent> {
  for await (const event of followAll(transport, following)) if (event.type !== 'live') yield event;
}

/** The events of a run, with the live text between the events. */
export const followLive = (transport: Transport, { path, ...following }: Following) =>
  followAll(transport, { path: `${path}?live=true`, ...following });

async function* followAll(
  transport: Transport,
  { path, after, ...reconnecting }: Following,
): AsyncGenerator<RunEvent | LiveText> {
  let seen = after;
  const requestFor = () => ({ path, headers: { 'last-event-id': String(seen) } });
  for await (const { event, data } of follow(transport, requestFor, reconnecting)) {
    if (event === endOfStream) return;
    if (event === '') continue;
    if (event === liveEvent) {
      yield { type: 'live', ...read(liveFrameSchema, data, 200) };
      continue;
    }
    const next = read(runEventSchema, data, 200);
    if (next.seq <= seen) continue;
    seen = next.seq;
    yield next;
  }
}
