import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AddressRanges, classifyAddress, parseAddressRanges } from './address.ts';
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

/** Returns all addresses of a name, A and AAAA, the best first. Rejects when there are none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** An allowed host and port, and the only permitted addresses. */
interface Pinned {
  /** Normalised, see `parseHost`; also the TLS server name. */
  host: string;
  port: number;
  /** Canonical. The guard judged each of them. */
  addresses: readonly string[];
}

/** Decides about the hosts in reach of a run. */
export interface Guard {
  /** Whether a rule names the host and port. Contacts nothing. */
  lists(target: { host: string; port: number }): boolean;
  /**
   * Finds a rule, resolves the name on this host, and judges every answer.
   *
   * Throws `EgressError` EURLINVALID, ENETWORKOFF, EHOSTNOTALLOWED, EADDRESSREFUSED (one bad answer among good ones is enough), ENETWORK;
   * the reason of an aborted signal.
   */
  check(target: { host: string; port: number }, signal: AbortSignal): Promise<Pinned>;
  /** Judges a connected socket's `remoteAddress`. Throws `EgressError` EADDRESSREFUSED. */
  confirm(pinned: Pinned, remoteAddress: string | undefined): string;
}

export interface GuardOptions {
  /** See `parseRules`. Without rules the network is off. */
  rules: readonly string[];
  /**
   * Private addresses permitted to listed hosts, e.g. `127.0.0.1/32`. The operator decides this, never the run: the owner of a listed
   * host's DNS chooses among these addresses. @default []
   */
  allowAddresses?: readonly string[];
  /** @default the system's resolver, with /etc/hosts */
  resolve?: Resolve;
}

/** Throws `EgressError` ERULEINVALID. */
export function createGuard(options: GuardOptions): Guard {
  const ranges = parseAddressRanges(options.allowAddresses ?? []);
  const rules = parseRules(options.rules, ranges);
  const resolve = options.resolve ?? systemResolve;
  return {
    lists({ host, port }) {
      const parsed = parseHost(host);
      return parsed !== null && isListed(rules, { host: parsed.host, port });
    },
    async check(target, signal) {
      signal.throwIfAborted();
      const host = parseHost(target.host);
      if (!host) {
        throw new EgressError('EURLINVALID', `${JSON.stringify(target.host.slice(0, 300))} is not a host name.`, {
          next: 'Correct the host.',
        });
      }
      const asked = { host: host.host, port: target.port };
      if (rules.length === 0) throw networkOff(asked);
      // Before the resolver: unlisted names are never looked up.
      if (!isListed(rules, asked)) throw notAllowed(asked, host.kind === 'address');
      const answers = host.kind === 'address' ? [host.host] : await askResolver(resolve, host.host, signal);
      if (answers.length === 0) throw unresolved(asked.host);
      return { ...asked, addresses: answers.map((answer) => judge(ranges, asked.host, answer)) };
    },
    confirm(pinned, remoteAddress) {
      const address = judge(ranges, pinned.host, remoteAddress ?? '');
      if (pinned.addresses.includes(address)) return address;
      throw refusedAddress(pinned.host, address, 'not the address that was resolved');
    },
  };
}

/** @returns the canonical address */
function judge(ranges: AddressRanges, host: string, answer: string): string {
  const verdict = classifyAddress(answer);
  if (verdict.allowed) return verdict.address;
  if (verdict.address !== null && ranges.covers(verdict.address)) return verdict.address;
  throw refusedAddress(host, answer, verdict.reason);
}

/** @throws EgressError ENETWORK */
export async function askResolver(resolve: Resolve, host: string, signal: AbortSignal): Promise<readonly string[]> {
  // getaddrinfo cannot be interrupted
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([resolve(host, signal), aborted.promise]);
  } catch (error) {
    throw signal.aborted ? signal.reason : unresolved(host, error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export async function systemResolve(host: string): Promise<readonly string[]> {
  const answers = await lookup(host, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
}

function networkOff({ host, port }: { host: string; port: number }): EgressError {
  return new EgressError('ENETWORKOFF', `The network is off for this run; ${host}:${port} was not contacted.`, {
    next: `Do without it, or start the run with a network rule for ${host}:${port}.`,
  });
}

function notAllowed({ host, port }: { host: string; port: number }, literal: boolean): EgressError {
  return new EgressError('EHOSTNOTALLOWED', `${host}:${port} is not on this run's network allowlist.`, {
    next: literal
      ? 'Use the host name instead of an address.'
      : `Use a listed host, or have ${host}:${port} added: network.allow of the run, prepare.network.allow for commands of prepare.`,
  });
}

function refusedAddress(host: string, address: string, reason: string): EgressError {
  const subject = host === address ? address : `${host} resolves to ${address || 'no address'}, which`;
  return new EgressError('EADDRESSREFUSED', `${subject} is refused: ${reason}.`, {
    next: `Use a public host, or have the operator open ${isIP(address) === 0 ? 'its address' : `this one: add ${address}`} to HOLDPOINT_ALLOW_ADDRESSES.`,
  });
}

function unresolved(host: string, cause?: unknown): EgressError {
  const why = cause === undefined ? 'it has no address' : wordsOf(cause);
  return new EgressError('ENETWORK', `The name ${host} could not be resolved: ${why}.`, {
    next: 'Check the spelling, or try again later.',
    cause,
  });
}

/** Plain words for the system's error codes of name resolution and connections. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the host refuses connections on this port; nothing may be listening there',
  ECONNRESET: 'the host closed the connection',
  EPIPE: 'the host closed the connection',
  ETIMEDOUT: 'the host did not answer in time',
  EHOSTUNREACH: 'no way leads to the host',
  EHOSTDOWN: 'the host is down',
  ENETUNREACH: 'no way leads to the network of the host',
  ENETDOWN: 'the network of this machine is down',
  EADDRNOTAVAIL: 'this machine has no address or no free port for the connection',
  EACCES: 'this machine does not allow the connection',
  EPERM: 'this machine does not allow the connection',
  EMFILE: 'this process has too many files and connections open',
  ENFILE: 'this machine has too many files and connections open',
  ENOTFOUND: 'no such name',
  ENODATA: 'the name has no address',
  EAI_AGAIN: 'the name server does not answer',
  EAI_FAIL: 'the name server failed',
  ESERVFAIL: 'the name server failed',
};

/** The words with the code of the system, or the message of an error without a known code. */
export function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = words[code];
  if (known !== undefined) return `${known} (${code})`;
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
