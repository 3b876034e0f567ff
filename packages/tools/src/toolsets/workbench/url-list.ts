import { isIP } from 'node:net';

/** Whether a list of origins and hosts names a URL. A host without a port means 80 and 443, with any scheme. */
export function lists(list: readonly string[], url: URL): boolean {
  return list.some((entry) => {
    const { host, port, scheme, below } = parse(entry) ?? {};
    if (host === undefined || (scheme !== undefined && scheme !== url.protocol)) return false;
    const ports = port === undefined ? ['80', '443'] : [port];
    const isHost = below ? url.hostname.endsWith(`.${host}`) : url.hostname === host;
    return isHost && ports.includes(url.port || standardPort(url.protocol));
  });
}

export const isListable = (entry: string): boolean => parse(entry) !== undefined;

/** The entries as rules of the run's network: `host`, `host:port` or `*.host:port`. */
export function networkRules(list: readonly string[]): string[] {
  return list.flatMap((entry) => {
    const { host, port, below } = parse(entry) ?? {};
    if (host === undefined) return [];
    return [`${below ? '*.' : ''}${host}${port === undefined ? '' : `:${port}`}`];
  });
}

interface Entry {
  /** In the form of `URL`: lower case, punycode, an IPv6 address in brackets. */
  host: string;
  /** undefined: 80 and 443. */
  port: string | undefined;
  /** With its colon. undefined: any. */
  scheme: string | undefined;
  /** Names below the host, without the host's own name. */
  below: boolean;
}

function parse(entry: string): Entry | undefined {
  const [, origin, wildcard, authority = ''] = /^(https?:\/\/)?(\*\.)?(.*)$/is.exec(entry) ?? [];
  const rest = origin === undefined ? authority : authority.replace(/\/$/, '');
  if (rest === '' || /[/?#@\\*\s]/.test(rest)) return undefined;
  const url = URL.parse(`${origin ?? 'http://'}${rest}`);
  const { hostname: host = '', protocol = '' } = url ?? {};
  const below = wildcard !== undefined;
  // A wildcard for a whole top-level domain opens too much.
  if (url === null || (below && (!host.includes('.') || isIP(host) !== 0))) return undefined;
  if (origin !== undefined) return { host, port: url.port || standardPort(protocol), scheme: protocol, below };
  const written = /:(\d{1,5})$/.exec(rest)?.[1];
  return { host, port: written && String(Number(written)), scheme: undefined, below };
}

/** Empty for a scheme other than http and https. */
const standardPort = (protocol: string): string => ({ 'http:': '80', 'https:': '443' })[protocol] ?? '';
