import type { Connection } from '@holdpoint/contract';
import { openConnection } from './connect.ts';
import { EgressError } from './errors.ts';
import type { Guard } from './guard.ts';
import { deadline, type FetchLimits, parseHost } from './limits.ts';
import { acceptEncoding, type Body, readBody } from './read-body.ts';

/** A request, for a single hop. */
export interface Hop {
  url: URL;
  method: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string | Buffer | null;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Headers forbidden to the caller: they decide the request's target or length, or the protocol of the connection. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding|proxy-.*)$/;

/** The worker keeps the body until the last redirect. */
const maxBodyBytes = 10 * 1024 ** 2;

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Throws `EgressError` EURLINVALID, and ETOOLARGE for the body. */
export function parseRequest(request: {
  url: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
}): Hop {
  const { method: asked = 'GET', body = null } = request;
  const method = asked.toUpperCase();
  if (!methods.includes(method)) throw invalid(`The method ${method} is not supported.`, `Use ${methods.join(', ')}.`);
  if (body !== null && (method === 'GET' || method === 'HEAD')) {
    throw invalid(`A ${method} request has no body.`, 'Leave it out, or use POST.');
  }
  if (body !== null && Buffer.byteLength(body) > maxBodyBytes) {
    const message = `The request body has ${Buffer.byteLength(body)} bytes, more than ${maxBodyBytes}.`;
    throw new EgressError('ETOOLARGE', message, { next: 'Send less at once.' });
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (!headerName.test(lower) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw invalid(`The header ${JSON.stringify(name)} cannot be sent.`, 'Use one line of Latin-1 text.');
    }
    if (reservedHeaders.test(lower)) throw invalid(`The client sets the header ${lower}.`, 'Leave it out.');
    headers[lower] = value;
  }
  return { url: parseTarget(request.url), method, headers, body };
}

/**
 * Parses an http or https URL without credentials, drops its fragment and normalises its host.
 *
 * @param base for a redirect's relative URL
 * Throws `EgressError` EURLINVALID.
 */
export function parseTarget(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (!url) throw invalid(`${quote(text)} is not a URL.`, 'Write an absolute URL, e.g. https://example.com/page.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`${quote(text)} is not an http or https URL.`, 'Use http:// or https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('The URL holds a user name or a password.', 'Leave them out, and send an authorization header.');
  }
  const host = parseHost(url.hostname);
  if (!host) throw invalid(`${quote(text)} names no host.`, 'Correct the host.');
  url.hostname = host.host.includes(':') ? `[${host.host}]` : host.host; // without its trailing dot
  url.hash = '';
  return url;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}

function invalid(message: string, next: string): EgressError {
  return new EgressError('EURLINVALID', message, { next });
}

/** A header for every request to a host, added by the run's network. */
export interface InjectedHeader {
  /** `host` or `host:port`; without a port: 443, and 80 for plain HTTP. */
  host: string;
  name: string;
  /** Sent over plain HTTP, too. */
  plainHttp: boolean;
  /** Reads the value at the moment of the send. Throws without a value, and then the request is refused. */
  value(): string;
}

interface Target {
  host: string;
  port: number;
}

export interface InjectedHeaders {
  /** Whether the proxy must decrypt TLS connections to this host to add a header. */
  intercepts(target: Target): boolean;
  /** Names and values for a request. */
  for(target: Target, transport: 'https' | 'http'): [string, string][];
  /** Whether any host's TLS connections are opened. */
  readonly isEmpty: boolean;
}

/** @param headers their hosts are names without `*` */
export function openInjectedHeaders(headers: readonly InjectedHeader[]): InjectedHeaders {
  const known = headers.map((header) => {
    const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(header.host) ?? [];
    return { ...header, host: parseHost(host)?.host ?? host, port: port === undefined ? null : Number(port) };
  });
  const matching = (target: Target, transport: 'https' | 'http') =>
    known.filter(({ host, port, plainHttp }) => {
      const wanted = port ?? (transport === 'https' ? 443 : 80);
      return (transport === 'https' || plainHttp) && host === target.host && wanted === target.port;
    });
  return {
    intercepts: (target) => matching(target, 'https').length > 0,
    for: (target, transport) => matching(target, transport).map(({ name, value }) => [name, value()]),
    isEmpty: known.length === 0,
  };
}

export const noHeaders: InjectedHeaders = openInjectedHeaders([]);

export interface SendDeps {
  guard: Guard;
  onConnection(connection: Connection): void;
  limits: FetchLimits;
  tooLarge: 'truncate' | 'fail';
  headers: InjectedHeaders;
  /** Certificates in PEM, in addition to public authorities. */
  authorities: readonly string[];
}

/** The response of a hop. Its connection is open until the caller disposes of the response. */
export interface HopResponse extends AsyncDisposable {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  read(): Promise<Body>;
}

/**
 * Sends a request over a connection of its own and waits for the response headers.
 *
 * Throws the errors of `openConnection`, ENETWORK, ETIMEOUT, ETOOLARGE for headers; the reason of an aborted signal.
 */
export async function sendRequest(deps: SendDeps, hop: Hop, signal: AbortSignal): Promise<HopResponse> {
  // Loaded here: most processes send no request of a run, and undici has 110 modules.
  const { Client } = await import('undici');
  const { limits, tooLarge } = deps;
  const { url, method } = hop;
  using first = deadline(limits.first_byte_ms, `${url.host} did not answer in ${limits.first_byte_ms} ms.`);
  const waiting = AbortSignal.any([signal, first.signal]); // `first` cannot abort after the headers: the deadline is disposed of
  const secure = url.protocol === 'https:';
  const port = Number(url.port || (secure ? 443 : 80));
  const target = { host: url.hostname.replace(/^\[|\]$/g, ''), port, secure };
  const { socket, close } = await openConnection({ ...deps, connectMs: limits.connect_ms }, target, waiting);
  const client = new Client(url.origin, {
    // The connection exists already: undici's own connector resolves names without the guard, and calls no `lookup` at all for an IP
    // address. The callback is asynchronous because undici ignores a callback within `connect`.
    connect: (_options, callback) => {
      queueMicrotask(() =>
        socket.destroyed ? callback(new Error('the connection has closed'), null) : callback(null, socket),
      );
    },
    allowH2: false,
    maxHeaderSize: limits.header_bytes,
    // the signals are exact, undici's timers are not
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const dispose = () => client.destroy().then(close);
  try {
    const { statusCode, headers, body } = await client.request({
      path: url.pathname + url.search,
      method,
      headers: {
        ...{ 'user-agent': 'holdpoint', accept: '*/*', ...hop.headers, 'accept-encoding': acceptEncoding },
        ...injectedInto(deps.headers, { host: target.host, port }, secure),
      },
      body: hop.body,
      reset: true, // a single request per connection
      signal: waiting,
    });
    body.on('error', () => {}); // for a body without a reader
    const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
    const encoding = hasBody ? [headers['content-encoding'] ?? []].flat().join() : '';
    return {
      status: statusCode,
      headers: headers as HopResponse['headers'],
      read: () =>
        readBody(body, { encoding, limits, tooLarge }).catch((error: unknown) => {
          throw explain(url, error, signal, limits);
        }),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw explain(url, error, waiting, limits);
  }
}

/** Injected headers replace the request's own headers: its names are in lower case. Each hop has the headers of its own host. */
function injectedInto(headers: InjectedHeaders, target: { host: string; port: number }, secure: boolean) {
  const pairs = headers.for(target, secure ? 'https' : 'http');
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function explain(url: URL, error: unknown, signal: AbortSignal, limits: FetchLimits): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof EgressError) return error;
  if (error instanceof Error && 'code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW') {
    const message = `The response headers of ${url.host} are larger than ${limits.header_bytes} bytes.`;
    return new EgressError('ETOOLARGE', message, { next: 'Use another URL.', cause: error });
  }
  const message = `${url.host} gave no usable answer: ${error instanceof Error ? error.message : String(error)}.`;
  return new EgressError('ENETWORK', message, { next: 'Try again later, or use another URL.', cause: error });
}
