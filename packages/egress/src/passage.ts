import type { Socket } from 'node:net';
import type { EgressConnection } from './connection-report.ts';
import { EgressError } from './errors.ts';
import type { ProxyLimits } from './proxy-limits.ts';

export interface PassageDeps {
  limits: ProxyLimits;
  /** Counts against the proxy's bytes. False: they are used up. */
  spend(bytes: number): boolean;
  onConnection(connection: EgressConnection): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** One client's connection through the proxy, with its timers. Reported when the client's socket closes. */
export class Passage {
  readonly client: Socket;
  /** Aborts when the client has gone, or was cut off. */
  readonly signal: AbortSignal;
  /** What was asked for. */
  target = { host: '', port: 0 };
  readonly #deps: PassageDeps;
  readonly #gone = new AbortController();
  readonly #timers: Record<'header' | 'idle' | 'total', NodeJS.Timeout>;
  readonly #at: number;
  #end: Pick<EgressConnection, 'verdict' | 'code' | 'address'> = { verdict: 'refused', code: null };
  #upstream: Socket | null = null;
  #begun = false;

  constructor(deps: PassageDeps, client: Socket) {
    this.#deps = deps;
    this.client = client;
    this.signal = this.#gone.signal;
    this.#at = deps.now();
    const timer = (ms: number) => setTimeout(() => this.cut('ETIMEOUT'), ms);
    const { header_ms, idle_ms, total_ms } = deps.limits;
    this.#timers = { header: timer(header_ms), idle: timer(idle_ms), total: timer(total_ms) };
    client.on('error', () => {}); // a client that resets has gone, and that is all
    client.once('close', () => this.#finish());
  }

  /** The request's headers are here. False for a second request, which is not served: its target was not judged with this connection. */
  begin(): boolean {
    const first = !this.#begun;
    this.#begun = true;
    clearTimeout(this.#timers.header);
    return first;
  }

  refuse(verdict: 'refused' | 'failed', code: string): void {
    this.#end = { verdict, code };
  }

  /** From here on the connection counts as made. */
  attach(upstream: Socket, address: string): void {
    this.#upstream = upstream;
    this.#end = { verdict: 'allowed', code: null, address };
    upstream.on('error', () => {
      this.#end.code ??= 'ENETWORK';
      this.client.destroy();
    });
    if (this.client.destroyed) upstream.destroy();
  }

  /** Data went through. */
  count(bytes: number): void {
    this.#timers.idle.refresh();
    if (!this.#deps.spend(bytes)) this.cut('ETOOLARGE');
  }

  /** Ends it at once. */
  cut(code: 'ETIMEOUT' | 'ETOOLARGE' | 'EABORTED'): void {
    this.#end.code ??= code;
    this.#upstream?.destroy();
    this.client.destroy();
  }

  #finish(): void {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#upstream?.destroy();
    this.#gone.abort(new EgressError('ENETWORK', 'The client has gone.', { next: 'Nothing.' }));
    this.#deps.onConnection({
      ...this.target,
      ...this.#end,
      // the client went, or was cut off, before it had asked for anything
      ...(this.#end.verdict === 'refused' ? { code: this.#end.code ?? 'EPROXYREQUEST' } : {}),
      ...{ bytes_up: this.#upstream?.bytesWritten ?? 0, bytes_down: this.#upstream?.bytesRead ?? 0 },
      ...{ ms: this.#deps.now() - this.#at, at: this.#at },
    });
  }
}
