import { parseHost } from './limits.ts';

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
