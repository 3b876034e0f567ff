import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Server, Socket } from 'node:net';
import { parsePort } from './allowlist.ts';
import { connectPinned } from './connect.ts';
import { codeOf, type EgressConnection, verdictOf } from './connection-report.ts';
import { deadline } from './deadline.ts';
import { EgressError } from './errors.ts';
import { forward } from './forward.ts';
import type { Guard } from './guard.ts';
import { parseHost } from './host-name.ts';
import { Passage, type PassageDeps } from './passage.ts';
import { defaultProxyLimits, type ProxyLimits } from './proxy-limits.ts';
import { holdsToken, proxyUrl } from './proxy-token.ts';
import { resolveLimits } from './resolve-limits.ts';
import { joinTunnel } from './tunnel.ts';

export interface EgressProxyOptions {
  guard: Guard;
  /** The run's secret: 32 characters or more of A–Z, a–z, 0–9, `-` and `_`. */
  token: string;
  /** Called once for every connection when it has ended. Must not throw. */
  onConnection(connection: EgressConnection): void;
  limits?: Partial<ProxyLimits>;
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
}

/**
 * A run's way out: an HTTP proxy (CONNECT, and plain requests in absolute form) that connects to what the guard allows. Names are
 * resolved here, on the host. One request per connection.
 *
 * A tunnel is bytes to it: what is asked for within TLS is not seen. Where a listed host shares its address with others (a CDN), a client
 * can ask there for another of them by SNI and Host.
 */
export class EgressProxy implements AsyncDisposable {
  readonly #options: EgressProxyOptions;
  readonly #deps: PassageDeps;
  readonly #http: HttpServer;
  readonly #passages = new Map<Socket, Passage>();
  readonly #servers = new Set<() => void>();
  #bytesLeft: number;
  #closed = false;

  /** Throws `EgressError` ERULEINVALID for a token that can be guessed or not be written in a URL. */
  constructor(options: EgressProxyOptions) {
    if (!/^[A-Za-z0-9_-]{32,}$/.test(options.token)) {
      throw new EgressError('ERULEINVALID', "The proxy's token is too short or holds other characters.", {
        next: 'Use 32 random characters of A–Z, a–z, 0–9, - and _.',
      });
    }
    this.#options = options;
    const limits = resolveLimits(defaultProxyLimits, options.limits);
    this.#bytesLeft = limits.bytes;
    const { onConnection, now = Date.now } = options;
    this.#deps = { limits, onConnection, now, spend: (bytes) => this.#spend(bytes) };
    // never listens itself: connections are given to it, and the passages have the timers
    this.#http = createServer({ maxHeaderSize: limits.header_bytes, insecureHTTPParser: false, keepAlive: false });
    this.#http.on('request', (incoming, response) => void this.#onRequest(incoming, response));
    this.#http.on(
      'connect',
      (incoming: IncomingMessage, socket: Socket, head: Buffer) => void this.#onConnect(incoming, socket, head),
    );
    this.#http.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
      answer(socket, error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, 'This is no request that a proxy serves.'),
    );
  }

  /** What a command's environment needs, so that programs find the proxy on this port of the loopback. */
  environment(port: number): Record<string, string> {
    const url = proxyUrl(this.#options.token, port);
    return {
      ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
      ...{ NO_PROXY: '', no_proxy: '' },
      NODE_USE_ENV_PROXY: '1',
    };
  }

  /**
   * Serves a listening server's connections, on a port or a unix socket, in whichever network namespace it listens.
   *
   * @returns closes that server and ends its connections at once
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
      for (const socket of own) this.#passages.get(socket)?.cut('EABORTED');
    };
    this.#servers.add(release);
    if (this.#closed) release();
    return release;
  }

  /** Ends all tunnels at once. When it resolves, every connection has been reported. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const closed = [...this.#passages.values()].map(({ client }) => (client.closed ? null : once(client, 'close')));
    for (const release of [...this.#servers]) release();
    for (const passage of this.#passages.values()) passage.cut('EABORTED');
    await Promise.allSettled(closed);
  }

  #accept(socket: Socket): void {
    socket.allowHalfOpen = true; // a client may end its side and still wait for the answer
    const passage = new Passage(this.#deps, socket);
    const busy = this.#closed || this.#passages.size >= this.#deps.limits.connections;
    if (busy) {
      passage.refuse('refused', 'EPROXYBUSY');
      answer(socket, 503, 'Too many connections at the same time.');
      return;
    }
    this.#passages.set(socket, passage);
    socket.once('close', () => this.#passages.delete(socket));
    this.#http.emit('connection', socket);
  }

  async #onConnect(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const passage = this.#passages.get(socket);
    if (!passage?.begin()) return;
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(incoming.url ?? '') ?? [];
    const opened = await this.#open(passage, incoming, { host, port: parsePort(port) });
    if (!opened) return;
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    joinTunnel(passage, opened, head);
  }

  async #onRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const passage = this.#passages.get(incoming.socket);
    if (!passage?.begin()) return;
    const url = URL.parse(incoming.url ?? '');
    const usable = url?.protocol === 'http:' && url.username === '' && url.password === '';
    const target = usable ? { host: url.hostname, port: Number(url.port || 80) } : { host: '', port: Number.NaN };
    const socket = await this.#open(passage, incoming, target);
    if (socket && url) forward({ limits: this.#deps.limits, passage }, { url, incoming, response, socket });
  }

  /** Judges and connects. On a refusal the client has its answer, and null is returned. */
  async #open(
    passage: Passage,
    incoming: IncomingMessage,
    target: { host: string; port: number },
  ): Promise<Socket | null> {
    const { guard, token } = this.#options;
    const refuse = (status: number, text: string, headers: readonly string[] = []) => {
      incoming.resume();
      answer(passage.client, status, text, headers);
      return null;
    };
    const valid = target.host !== '' && !Number.isNaN(target.port);
    if (valid) passage.target = { host: parseHost(target.host)?.host ?? target.host.slice(0, 300), port: target.port };
    if (!holdsToken(incoming.headers['proxy-authorization'], token)) {
      passage.refuse('refused', 'EPROXYAUTH');
      return refuse(407, "The proxy needs the run's token.", ['Proxy-Authenticate: Basic realm="holdpoint"']);
    }
    if (!valid) return refuse(400, 'Use CONNECT host:port, or a plain http:// URL.');
    try {
      if (this.#bytesLeft <= 0) throw spent(this.#deps.limits.bytes);
      const { connect_ms } = this.#deps.limits;
      using limit = deadline(connect_ms, `${passage.target.host} could not be reached in ${connect_ms} ms.`);
      const signal = AbortSignal.any([passage.signal, limit.signal]);
      const pinned = await guard.check(target, signal);
      const options = { guard, timeoutMs: connect_ms, allowHalfOpen: true, signal };
      const { socket, address } = await connectPinned(options, pinned);
      passage.attach(socket, address);
      return passage.signal.aborted ? null : socket;
    } catch (error) {
      passage.refuse(verdictOf(error), codeOf(error));
      const known = error instanceof EgressError;
      const text = known ? `${error.code}: ${error.message} ${error.next}` : 'The connection could not be made.';
      return refuse(statusOf(error), text);
    }
  }

  #spend(bytes: number): boolean {
    this.#bytesLeft -= bytes;
    return this.#bytesLeft >= 0;
  }
}

function statusOf(error: unknown): number {
  if (!(error instanceof EgressError)) return 502;
  switch (error.code) {
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
      return error.code satisfies never;
  }
}

function spent(bytes: number): EgressError {
  return new EgressError('ETOOLARGE', `This run has used up its ${bytes} bytes of traffic.`, {
    next: 'Do without more, or start a run with a larger limit.',
  });
}

/** A client that is still sending its request would lose the answer if we closed at once. */
const LINGER_MS = 1000;

/** Written to the socket itself: of a CONNECT there is no response object. */
function answer(socket: Socket, status: number, text: string, headers: readonly string[] = []): void {
  const line = `${text.replace(/[^\x20-\x7e]/g, '?')}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers,
    'Content-Type: text/plain',
    `Content-Length: ${line.length}`,
    'Connection: close',
  ];
  if (socket.writable) socket.end(`${lines.join('\r\n')}\r\n\r\n${line}`);
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}
