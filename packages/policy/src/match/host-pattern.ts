import type { Truth } from './truth.ts';

/** Hosts by name and port. `host` has no wildcard; `*` alone is any host. */
export interface HostPattern {
  host: string;
  /** Stands for names below `host` at any depth, without the host's own name. */
  below: boolean;
  /** `any`: every port. */
  ports: readonly number[] | 'any';
}

const webPorts = [80, 443];

/**
 * Reads `host`, `host:port`, `*.host`, `*.host:port`, `*` and `[address]:port`, in any spelling valid in a URL. @returns undefined for
 * other text
 */
export function parseHostPattern(text: string): HostPattern | undefined {
  if (text === '*') return { host: '', below: true, ports: 'any' };
  const [, star, name = '', port] = /^(\*\.)?(\[[0-9a-f:.]+\]|[^\s:/?#@\\*[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, '');
  if (host === undefined || host === '') return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  return { host, below: star !== undefined, ports: number === undefined ? webPorts : [number] };
}

/** Whether a rule's pattern covers a host of a call. The host may be a pattern, too. `maybe`: the rule covers a part of the pattern. */
export function matchHost(rule: HostPattern, touched: HostPattern): Truth {
  if (!overlaps(rule, touched)) return 'no';
  const names = rule.below
    ? touched.host.endsWith(suffix(rule)) || (touched.below && touched.host === rule.host)
    : !touched.below;
  const ports = rule.ports === 'any' || (touched.ports !== 'any' && touched.ports.every((port) => hasPort(rule, port)));
  return names && ports ? 'yes' : 'maybe';
}

function overlaps(a: HostPattern, b: HostPattern): boolean {
  if (a.ports !== 'any' && b.ports !== 'any' && !a.ports.some((port) => hasPort(b, port))) return false;
  if (a.below && b.below) return a.host === b.host || a.host.endsWith(suffix(b)) || b.host.endsWith(suffix(a));
  if (a.below) return b.host.endsWith(suffix(a));
  if (b.below) return a.host.endsWith(suffix(b));
  return a.host === b.host;
}

const hasPort = ({ ports }: HostPattern, port: number): boolean => ports === 'any' || ports.includes(port);
/** Every name ends with the suffix of `*`. */
const suffix = ({ host }: HostPattern): string => (host === '' ? '' : `.${host}`);
