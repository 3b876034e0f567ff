import { Client, type Dispatcher, errors } from 'undici';
import { deadline } from './deadline.ts';
import { type DialDeps, dial } from './dial.ts';
import { EgressError } from './errors.ts';
import type { FetchLimits } from './fetch-limits.ts';
import { type Hop, portOf } from './fetch-request.ts';
import { parseHost } from './host-name.ts';
import { ACCEPT_ENCODING, type Body, readBody } from './read-body.ts';

export interface ExchangeDeps extends Omit<DialDeps, 'connectMs'> {
  limits: FetchLimits;
}

/** One hop's answer. Its connection is open until this is disposed of. */
export interface Answer extends AsyncDisposable {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  location: string | undefined;
  read(input: { limits: FetchLimits; tooLarge: 'truncate' | 'fail' }): Promise<Body>;
}

/**
 * Sends one request over a connection of its own and waits for the answer's headers.
 *
 * Throws what `dial` throws, ENETWORK, ETIMEOUT, ETOOLARGE for headers; the signal's reason when it aborts.
 */
export async function exchange(deps: ExchangeDeps, hop: Hop, signal: AbortSignal): Promise<Answer> {
  const { limits } = deps;
  using first = deadline(limits.first_byte_ms, `${hop.url.host} did not answer in ${limits.first_byte_ms} ms.`);
  // once the headers are here, `first` is disposed of and can no longer abort
  const waiting = AbortSignal.any([signal, first.signal]);
  const target = { host: parseHost(hop.url.hostname)?.host ?? '', port: portOf(hop.url), secure: isSecure(hop) };
  const client = new Client(hop.url.origin, {
    // undici's own connector looks names up by itself, and calls no `lookup` at all for an IP address
    connect: (_options, callback) => {
      dial({ ...deps, connectMs: limits.connect_ms }, target, waiting).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
    allowH2: false,
    maxHeaderSize: limits.header_bytes,
    // the signals are exact, undici's timers are not
    ...{ headersTimeout: 0, bodyTimeout: 0 },
  });
  const dispose = () => client.destroy(); // waits for the connection's end, and so for its report
  try {
    const answer = await client.request({
      path: hop.url.pathname + hop.url.search,
      method: hop.method,
      headers: { 'user-agent': 'holdpoint', accept: '*/*', ...hop.headers, 'accept-encoding': ACCEPT_ENCODING },
      body: hop.body,
      reset: true, // one connection, one request
      signal: waiting,
    });
    return answerOf(hop, answer, signal, dispose);
  } catch (error) {
    await dispose();
    throw explain(hop, error, waiting, limits);
  }
}

function answerOf(
  hop: Hop,
  answer: Dispatcher.ResponseData,
  signal: AbortSignal,
  dispose: () => Promise<void>,
): Answer {
  const status = answer.statusCode;
  const headers = answer.headers as Answer['headers'];
  const hasBody = hop.method !== 'HEAD' && status !== 204 && status !== 304;
  const joined = (name: string) => [headers[name] ?? []].flat();
  answer.body.on('error', () => {}); // of a body that nobody reads
  return {
    status,
    headers,
    location: joined('location')[0],
    read: ({ limits, tooLarge }) =>
      readBody(answer.body, { encoding: hasBody ? joined('content-encoding').join() : '', limits, tooLarge }).catch(
        (error: unknown) => {
          throw explain(hop, error, signal, limits);
        },
      ),
    [Symbol.asyncDispose]: dispose,
  };
}

function explain(hop: Hop, error: unknown, signal: AbortSignal, limits: FetchLimits): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof EgressError) return error;
  if (error instanceof errors.HeadersOverflowError) {
    const message = `The headers of ${hop.url.host}'s answer are larger than ${limits.header_bytes} bytes.`;
    return new EgressError('ETOOLARGE', message, { next: 'Use another URL.', cause: error });
  }
  const message = `${hop.url.host} gave no usable answer: ${error instanceof Error ? error.message : String(error)}.`;
  return new EgressError('ENETWORK', message, { next: 'Try again later, or use another URL.', cause: error });
}

function isSecure(hop: Hop): boolean {
  return hop.url.protocol === 'https:';
}
