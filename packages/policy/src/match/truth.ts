/**
 * `maybe`: the shell decides at run time whether the rule matches. An allow rule needs `yes`; a hold or deny rule applies unless the answer
 * is `no`.
 */
export type Truth = 'yes' | 'maybe' | 'no';

export const and = (a: Truth, b: Truth): Truth => (a === 'no' || b === 'no' ? 'no' : a === 'yes' ? b : a);
export const or = (a: Truth, b: Truth): Truth => (a === 'yes' || b === 'yes' ? 'yes' : a === 'no' ? b : a);

/** Stops at the first `yes`. */
export function any<Item>(items: readonly Item[], test: (item: Item) => Truth): Truth {
  let found: Truth = 'no';
  for (const item of items) {
    found = or(found, test(item));
    if (found === 'yes') return found;
  }
  return found;
}

/** `yes` for no items. Stops at the first `no`. */
export function all<Item>(items: readonly Item[], test: (item: Item) => Truth): Truth {
  let found: Truth = 'yes';
  for (const item of items) {
    found = and(found, test(item));
    if (found === 'no') return found;
  }
  return found;
}

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
