import type { AddressRanges } from './address.ts';
import { EgressError } from './errors.ts';
import { parseHost } from './limits.ts';

interface Rule {
  /** Normalised, see `parseHost`. */
  host: string;
  /** Matches names below `host` at any depth, but not the host's own name. */
  subdomains: boolean;
  ports: readonly number[];
}

const defaultPorts = [80, 443];

/**
 * Reads a run's rules: `host`, `host:port`, `*.host`, `*.host:port`. Without a port, a rule means 80 and 443.
 *
 * @param addresses IP addresses permitted in a rule
 * Throws `EgressError` ERULEINVALID with the problem and a correct form.
 */
export function parseRules(rules: readonly string[], addresses: AddressRanges): Rule[] {
  return rules.map((text) => parseRule(text, addresses));
}

/** @param target.host normalised, see `parseHost` */
export function isListed(rules: readonly Rule[], { host, port }: { host: string; port: number }): boolean {
  return rules.some(
    (rule) => rule.ports.includes(port) && (rule.subdomains ? host.endsWith(`.${rule.host}`) : host === rule.host),
  );
}

function parseRule(text: string, addresses: AddressRanges): Rule {
  const fail = (problem: string, next: string) =>
    new EgressError('ERULEINVALID', `The network rule ${JSON.stringify(text)} ${problem}.`, { next });
  if (text.includes('://')) {
    const url = URL.parse(text);
    const port = url?.port || { 'http:': '80', 'https:': '443' }[url?.protocol ?? ''] || '443';
    throw fail('is a URL', `Write the host and the port: ${url?.hostname || 'example.com'}:${port}.`);
  }
  if (/[/?#@\\\s]/.test(text)) {
    throw fail('is more than a host and a port', 'Rules match no paths or users. Write e.g. example.com:443.');
  }
  const { rest, subdomains } = text.startsWith('*.')
    ? { rest: text.slice(2), subdomains: true }
    : { rest: text, subdomains: false };
  if (rest.includes('*')) {
    throw fail(
      'has a misplaced `*`',
      'Only a leading `*.` is allowed: *.example.com. Name every port and every host that the run needs.',
    );
  }
  const [, hostText = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(rest) ?? [];
  const host = parseHost(hostText);
  if (!host) throw fail('names no host', 'Write e.g. example.com, example.com:8443 or *.example.com.');
  const port = portText === undefined ? null : parsePort(portText);
  if (Number.isNaN(port)) {
    throw fail(`has the port ${JSON.stringify(portText)}`, `Write a number from 1 to 65535, e.g. ${host.host}:443.`);
  }
  if (host.kind === 'address' && (subdomains || !addresses.covers(host.host))) {
    throw fail(
      'names an IP address',
      'Write the host name. A rule may only name addresses that the operator opened (allowAddresses).',
    );
  }
  if (subdomains && !host.host.includes('.')) {
    throw fail('would open a whole top-level domain', `Name at least two labels, e.g. *.example.${host.host}.`);
  }
  return { host: host.host, subdomains, ports: port === null ? defaultPorts : [port] };
}

/** @returns NaN for any text but a port */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port >= 1 && port <= 65_535 ? port : Number.NaN;
}
