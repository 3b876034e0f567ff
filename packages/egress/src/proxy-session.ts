import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from '@holdpoint/contract';
import { type ConnectionEnd, reportOf } from './connect.ts';
import { EgressError } from './errors.ts';
import type { ProxyLimits } from './limits.ts';

export interface ProxySessionDeps {
  limits: ProxyLimits;
  /** Counts against the proxy's bytes. False when they are used up. */
  spend(bytes: number): boolean;
  onConnection(connection: Connection): void;
}

/** A client's connection through the proxy, with its timers. Reported when the client's socket closes. */
export class ProxySession {
  readonly client: Socket;
  /** Aborts when the client's socket closes. */
  readonly signal: AbortSignal;
  /** The host and port named by the client. */
  target = { host: '', port: 0 };
  readonly #deps: ProxySessionDeps;
  readonly #closed = new AbortController();
  readonly #timers: Record<'header' | 'idle' | 'total', NodeJS.Timeout>;
  readonly #at = Date.now();
  #end: ConnectionEnd = { verdict: 'refused' };
  #upstream: Socket | null = null;
  #begun = false;

  constructor(deps: ProxySessionDeps, client: Socket) {
    this.#deps = deps;
    this.client = client;
    this.signal = this.#closed.signal;
    const timer = (ms: number) => setTimeout(() => this.abort('ETIMEOUT'), ms);
    const { header_ms, idle_ms, total_ms } = deps.limits;
    this.#timers = { header: timer(header_ms), idle: timer(idle_ms), total: timer(total_ms) };
    client.on('error', () => {}); // a reset needs no more than the close event after
    client.once('close', () => this.#finish());
  }

  /** The request headers are complete. False for a second request: its target was not judged with this connection. */
  begin(): boolean {
    const first = !this.#begun;
    this.#begun = true;
    clearTimeout(this.#timers.header);
    return first;
  }

  refuse(end: ConnectionEnd): void {
    this.#end = end;
  }

  /** From here on the connection counts as made. */
  attach(upstream: Socket, address: string): void {
    this.#upstream = upstream;
    this.#end = { verdict: 'allowed', reason: undefined, address };
    upstream.on('error', () => {
      this.#end.reason ??= 'ENETWORK';
      this.client.destroy();
    });
    if (this.client.destroyed) upstream.destroy();
  }

  /** Joins both sockets until both directions have ended. Either may end first. */
  tunnel(upstream: Socket, head: Buffer): void {
    if (head.length > 0) {
      this.count(head.length);
      upstream.write(head);
    }
    for (const [from, to] of [
      [this.client, upstream],
      [upstream, this.client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk: Buffer) => this.count(chunk.length));
      from.pipe(to);
    }
  }

  /** Counts transferred bytes. */
  count(bytes: number): void {
    this.#timers.idle.refresh();
    if (!this.#deps.spend(bytes)) this.abort('ETOOLARGE');
  }

  /** Closes both sockets at once. */
  abort(reason: 'ETIMEOUT' | 'ETOOLARGE' | 'EABORTED'): void {
    this.#end.reason ??= reason;
    this.#upstream?.destroy();
    this.client.destroy();
  }

  #finish(): void {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#upstream?.destroy();
    this.#closed.abort(new EgressError('ENETWORK', 'The client has disconnected.', { next: 'Connect again.' }));
    // a refusal without a reason: the client disconnected, or was cut off, before its request was complete
    if (this.#end.verdict === 'refused') this.#end.reason ??= 'EPROXYREQUEST';
    this.#deps.onConnection(reportOf({ target: this.target, end: this.#end, socket: this.#upstream, at: this.#at }));
  }
}

/** For a single hop only, with the headers named by Connection. */
const hopByHop = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
];

/**
 * Forwards a request over a connected socket, and the response back.
 *
 * @param input.host replaces the client's Host header
 * @param input.path with the query
 * @param input.inject replaces the client's headers of the same names
 */
export function forward(
  { session, headerBytes }: { session: ProxySession; headerBytes: number },
  input: {
    host: string;
    path: string;
    inject: readonly [string, string][];
    incoming: IncomingMessage;
    response: ServerResponse;
    socket: Socket;
  },
): void {
  const { host, path, inject, incoming, response, socket } = input;
  const isChunked = incoming.headers['transfer-encoding'] !== undefined;
  const abandon = () => session.client.destroy();
  const outgoing = request({
    createConnection: () => socket,
    method: incoming.method,
    path,
    headers: [
      ...['host', host, 'connection', 'close'],
      ...endToEnd(incoming, ['host', ...inject.map(([name]) => name.toLowerCase())]),
      ...inject.flat(),
      // Framed as by the client: Node does not know the length.
      ...(isChunked ? ['transfer-encoding', 'chunked'] : []),
    ],
    maxHeaderSize: headerBytes,
  });
  outgoing.on('error', abandon);
  outgoing.once('response', (answer) => {
    answer.on('data', (chunk: Buffer) => session.count(chunk.length));
    answer.on('error', abandon);
    response.on('error', abandon);
    response.sendDate = false;
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...endToEnd(answer), 'connection', 'close']);
    } catch {
      abandon(); // Node refuses to send a header.
      return;
    }
    answer.pipe(response);
  });
  if (!isChunked && incoming.headers['content-length'] === undefined) {
    outgoing.end();
    return;
  }
  incoming.on('data', (chunk: Buffer) => session.count(chunk.length));
  incoming.pipe(outgoing);
}

/** Keeps the raw header pairs for all hops. */
function endToEnd(message: IncomingMessage, without: readonly string[] = []): string[] {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named, ...without]);
  const kept: string[] = [];
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = message.rawHeaders.slice(index, index + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
