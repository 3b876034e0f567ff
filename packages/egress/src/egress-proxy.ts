import { once } from 'node:events';
import * as nodeHttp from 'node:http';
import { isIP, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Connection } from '@holdpoint/contract';
import type { CertificateAuthority } from './certificate-authority.ts';
import { type ConnectionEnd, connectGuarded, encrypt, failedEnd } from './connect.ts';
import { EgressError } from './errors.ts';
import { type Guard, parsePort, wordsOf } from './guard.ts';
import { defaultProxyLimits, type ProxyLimits, parseHost, resolveLimits } from './limits.ts';
import { forward, ProxySession, type ProxySessionDeps } from './proxy-session.ts';
import { holdsToken, proxyUrl } from './proxy-token.ts';
import { Refusals } from './refusals.ts';
import { type InjectedHeaders, noHeaders } from './send-request.ts';

interface Intercepted {
  session: ProxySession;
  /** The connection to the host, over TLS. */
  upstream: Socket;
}

export interface EgressProxyOptions {
  guard: Guard;
  /** The run's secret: 32 characters or more of A–Z, a–z, 0–9, `-` and `_`. */
  token: string;
  /** Called once for every connection at its end. Must not throw. */
  onConnection(connection: Connection): void;
  limits?: Partial<ProxyLimits>;
  /** Headers for requests to some hosts, and the certificates with which the proxy decrypts those requests. @default none */
  injected?: { headers: InjectedHeaders; authority: CertificateAuthority };
  /** Certificates in PEM trusted for hosts with a header, in addition to those of this process. @default none */
  authorities?: readonly string[];
}

/**
 * The network of a run's commands: an HTTP proxy (CONNECT, and plain requests in absolute form) with connections to hosts allowed by the guard. The host resolves the names. A connection carries a single request.
 *
 * The proxy decrypts TLS connections to hosts with an injected header, and verifies their certificates. Requests inside any other tunnel are invisible. When a listed host shares its address with others (a CDN), a client can reach those other
 * hosts by SNI and Host.
 */
export class EgressProxy implements AsyncDisposable {
  readonly #options: EgressProxyOptions;
  readonly #deps: ProxySessionDeps;
  readonly #http: nodeHttp.Server;
  readonly #sessions = new Map<Socket, ProxySession>();
  readonly #servers = new Set<() => void>();
  readonly #headers: InjectedHeaders;
  /** The client's side of decrypted connections, until their request is there. */
  readonly #intercepted = new WeakMap<Socket, Intercepted>();
  readonly #refusals = new Refusals();
  #bytesLeft: number;
  #closed = false;

  /** Throws `EgressError` ERULEINVALID for a short token or a token with characters foreign to URLs. */
  constructor(options: EgressProxyOptions) {
    if (!/^[A-Za-z0-9_-]{32,}$/.test(options.token)) {
      throw new EgressError('ERULEINVALID', "The proxy's token is too short or holds other characters.", {
        next: 'Use 32 random characters of A–Z, a–z, 0–9, - and _.',
      });
    }
    this.#options = options;
    this.#headers = options.injected?.headers ?? noHeaders;
    const limits = resolveLimits(defaultProxyLimits, options.limits);
    this.#bytesLeft = limits.bytes;
    this.#deps = { limits, onConnection: options.onConnection, spend: (bytes) => this.#spend(bytes) };
    // This server never listens: `#accept` passes connections on, and the sessions have the timers.
    this.#http = nodeHttp
      .createServer({ maxHeaderSize: limits.header_bytes, insecureHTTPParser: false, keepAlive: false })
      .on('request', (incoming, response) => void this.#onRequest(incoming, response))
      .on('connect', (incoming, socket: Socket, head) => void this.#onConnect(incoming, socket, head))
      .on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
        answer(socket, error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, 'The proxy cannot serve this request.'),
      );
  }

  /** The refused or failed connections, for people: a line for each host and port, at most `mostNotes`. */
  get refusals(): string[] {
    return this.#refusals.lines();
  }

  /** The certificates for commands to trust, in PEM; undefined: the usual certificates suffice. */
  get certificates(): string | undefined {
    return this.#options.injected?.authority.bundle;
  }

  /** Environment variables by which a command's programs find the proxy on this port of the loopback. */
  environment(port: number): Record<string, string> {
    const url = proxyUrl(this.#options.token, port);
    return {
      ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
      ...{ NO_PROXY: '', no_proxy: '' },
      NODE_USE_ENV_PROXY: '1',
    };
  }

  /**
   * Serves a listening server's connections, on a port or a unix socket, in any network namespace.
   *
   * @returns closes the server and ends its connections at once
   */
  serve(server: Server): () => void {
    const own = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      own.add(socket);
      socket.once('close', () => own.delete(socket));
      this.#accept(socket);
    });
    const release = () => {
      this.#servers.delete(release);
      server.close();
      for (const socket of own) this.#sessions.get(socket)?.abort('EABORTED');
    };
    this.#servers.add(release);
    if (this.#closed) release();
    return release;
  }

  /** Ends all tunnels at once. Resolves when every connection has been reported. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const closed = [...this.#sessions.values()].map(({ client }) => (client.closed ? null : once(client, 'close')));
    for (const release of [...this.#servers]) release();
    for (const session of this.#sessions.values()) session.abort('EABORTED');
    await Promise.allSettled(closed);
  }

  #accept(socket: Socket): void {
    socket.allowHalfOpen = true; // a client may end its side and still wait for the answer
    const session = new ProxySession(this.#deps, socket);
    if (this.#closed || this.#sessions.size >= this.#deps.limits.connections) {
      session.refuse({ verdict: 'refused', reason: 'EPROXYBUSY' });
      answer(socket, 503, 'Too many connections at the same time.');
      return;
    }
    this.#sessions.set(socket, session);
    socket.once('close', () => this.#sessions.delete(socket));
    this.#http.emit('connection', socket);
  }

  async #onConnect(incoming: nodeHttp.IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const session = this.#sessions.get(socket);
    if (!session?.begin()) return;
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(incoming.url ?? '') ?? [];
    const upstream = await this.#open(session, incoming, { host, port: parsePort(port) });
    if (!upstream) return;
    if (this.#headers.intercepts(session.target)) return this.#intercept(session, upstream, head);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    session.tunnel(upstream, head);
  }

  /** Speaks TLS with both sides. A single request, as in plain HTTP: the proxy adds the headers for the host of this connection. */
  async #intercept(session: ProxySession, plain: Socket, head: Buffer): Promise<void> {
    const { client, target } = session;
    const { authority } = this.#options.injected ?? {};
    const upstream = encrypt(plain, target.host, this.#options.authorities);
    const context = authority?.contextFor(target.host);
    try {
      await Promise.all([once(upstream, 'secureConnect', { signal: session.signal }), context]);
    } catch (error) {
      session.refuse({ verdict: 'failed', reason: 'ENETWORK', detail: wordsOf(error) });
      plain.destroy();
      answer(client, 502, `No secure connection to the host: ${wordsOf(error)}.`);
      return;
    }
    upstream.on('error', () => client.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    const secure = new TLSSocket(client, { isServer: true, secureContext: await context, ALPNProtocols: ['http/1.1'] });
    secure.on('error', () => client.destroy());
    this.#intercepted.set(secure, { session, upstream });
    this.#http.emit('connection', secure);
  }

  /** A request inside an intercepted connection. The host of the connection counts, even when the request names another host. */
  #onSecureRequest(
    { session, upstream }: Intercepted,
    incoming: nodeHttp.IncomingMessage,
    response: nodeHttp.ServerResponse,
  ): void {
    const { host, port } = session.target;
    const path = incoming.url ?? '';
    const isFirst = this.#intercepted.delete(incoming.socket);
    if (!isFirst || !path.startsWith('/')) return void response.writeHead(400, { connection: 'close' }).end();
    const inject = this.#headersOf(session, 'https');
    if (inject === null) return;
    const deps = { session, headerBytes: this.#deps.limits.header_bytes };
    const named = `${isIP(host) === 6 ? `[${host}]` : host}${port === 443 ? '' : `:${port}`}`;
    forward(deps, { host: named, path, inject, incoming, response, socket: upstream });
  }

  /** Null, with a closed connection, when a header has no value: without the header the request would differ from the run's request. */
  #headersOf(session: ProxySession, transport: 'https' | 'http'): [string, string][] | null {
    try {
      return this.#headers.for(session.target, transport);
    } catch {
      session.refuse({ verdict: 'failed', reason: 'ESECRET' });
      session.client.destroy();
      return null;
    }
  }

  async #onRequest(incoming: nodeHttp.IncomingMessage, response: nodeHttp.ServerResponse): Promise<void> {
    const intercepted = this.#intercepted.get(incoming.socket);
    if (intercepted) return this.#onSecureRequest(intercepted, incoming, response);
    const session = this.#sessions.get(incoming.socket);
    if (!session?.begin()) return;
    const url = URL.parse(incoming.url ?? '');
    const usable = url?.protocol === 'http:' && url.username === '' && url.password === '';
    const target = usable ? { host: url.hostname, port: Number(url.port || 80) } : { host: '', port: Number.NaN };
    const socket = await this.#open(session, incoming, target);
    const deps = { session, headerBytes: this.#deps.limits.header_bytes };
    const inject = socket && url ? this.#headersOf(session, 'http') : null;
    if (!socket || !url || inject === null) return;
    forward(deps, { host: url.host, path: url.pathname + url.search, inject, incoming, response, socket });
  }

  /** Judges and connects. On a refusal the method answers the client and returns null. */
  async #open(
    session: ProxySession,
    incoming: nodeHttp.IncomingMessage,
    target: { host: string; port: number },
  ): Promise<Socket | null> {
    const { guard, token } = this.#options;
    const refuse = (end: ConnectionEnd, status: number, text: string, headers: readonly string[] = []) => {
      session.refuse(end);
      incoming.resume();
      answer(session.client, status, text, headers);
      return null;
    };
    const valid = target.host !== '' && !Number.isNaN(target.port);
    if (valid) session.target = { host: parseHost(target.host)?.host ?? target.host.slice(0, 300), port: target.port };
    if (!holdsToken(incoming.headers['proxy-authorization'], token)) {
      const headers = ['Proxy-Authenticate: Basic realm="holdpoint"'];
      return refuse({ verdict: 'refused', reason: 'EPROXYAUTH' }, 407, "The proxy needs the run's token.", headers);
    }
    if (!valid) {
      const text = 'Use CONNECT host:port, or a plain http:// URL.';
      return refuse({ verdict: 'refused', reason: 'EPROXYREQUEST' }, 400, text);
    }
    try {
      const { bytes, connect_ms: connectMs } = this.#deps.limits;
      if (this.#bytesLeft <= 0) throw spent(bytes);
      const options = { guard, connectMs, allowHalfOpen: true, signal: session.signal };
      const { socket, address } = await connectGuarded(options, target);
      session.attach(socket, address);
      return session.signal.aborted ? null : socket;
    } catch (error) {
      const known = error instanceof EgressError;
      if (known && !session.signal.aborted) this.#refusals.add(session.target, error);
      const text = known ? `${error.code}: ${error.message} ${error.next}` : 'The connection could not be made.';
      return refuse(failedEnd(error), known ? statusOf(error) : 502, text);
    }
  }

  #spend(bytes: number): boolean {
    this.#bytesLeft -= bytes;
    return this.#bytesLeft >= 0;
  }
}

function statusOf({ code }: EgressError): number {
  switch (code) {
    case 'EHOSTNOTALLOWED':
    case 'EADDRESSREFUSED':
    case 'ENETWORKOFF':
    case 'ETOOLARGE':
      return 403;
    case 'EURLINVALID':
      return 400;
    case 'ETIMEOUT':
      return 504;
    case 'ENETWORK':
    case 'EREDIRECTREFUSED':
    case 'ERULEINVALID':
      return 502;
    default:
      return code satisfies never;
  }
}

function spent(bytes: number): EgressError {
  return new EgressError('ETOOLARGE', `This run has used up its ${bytes} bytes of traffic.`, {
    next: 'Do without more, or start a run with a larger limit.',
  });
}

/** The proxy lingers before closing: a client still sending its request would otherwise lose the answer. */
const lingerMs = 1000;

/** Writes to the bare socket, because a CONNECT has no response object. */
function answer(socket: Socket, status: number, text: string, headers: readonly string[] = []): void {
  const line = `${text.replace(/[^\x20-\x7e]/g, '?')}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status]}`,
    ...headers,
    'Content-Type: text/plain',
    `Content-Length: ${line.length}`,
    'Connection: close',
  ];
  if (socket.writable) socket.end(`${lines.join('\r\n')}\r\n\r\n${line}`);
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
}
