import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { defaultTenant, type SecretScope } from '@holdpoint/contract';
import * as egress from '@holdpoint/egress';
import type { ExecutionContext } from '@holdpoint/engine/worker';
import { hostOf, McpError } from '@holdpoint/mcp';
import type { OAuthHost } from '@holdpoint/mcp/oauth';
import { SecretError, type Secrets } from '@holdpoint/secrets';
import type { Network } from '@holdpoint/tools';

/** The network of a call: for requests of the tool, and for its commands. */
export interface CallNetwork extends AsyncDisposable {
  network: Network;
  /** Opens a proxy with a token of its own, closed together with this network. */
  openProxy(): egress.EgressProxy;
}

/**
 * Opens a network for the run's allowlist and the tool's own rules; undefined when there is neither. Reports every connection to the
 * engine.
 *
 * @param call.reaches rules of the tool. A tool with rules judges each address, so hosts opened by a person count without an allowlist
 */
export async function openCallNetwork(
  {
    network,
    granted = [],
    reaches,
    scope,
    onConnection,
  }: Pick<ExecutionContext, 'network' | 'scope' | 'onConnection'> &
    Partial<Pick<ExecutionContext, 'granted'>> & { reaches?: readonly string[] | undefined },
  operator: { allowAddresses: readonly string[]; secrets: Secrets },
): Promise<CallNetwork | undefined> {
  if (network.allow.length === 0 && reaches === undefined) return undefined;
  const own = (reaches ?? []).filter((rule) => isRule(rule, operator.allowAddresses));
  const rules = [...network.allow, ...own, ...granted.filter(isName)];
  if (rules.length === 0) return undefined;
  const guard = egress.createGuard({ rules, allowAddresses: operator.allowAddresses });
  const headers = egress.openInjectedHeaders(headersOf(scope, operator.secrets));
  const injected = headers.isEmpty ? {} : { injected: { headers, authority: await egress.createAuthority() } };
  const guarded = egress.openGuardedFetch({ guard, onConnection, headers });
  const proxies: egress.EgressProxy[] = [];
  return {
    network: {
      hosts: network.allow,
      isListed: guard.lists,
      async fetch({ max_bytes, timeout_ms, ...request }, signal) {
        const answer = await guarded.fetch({
          ...request,
          signal,
          limits: { body_bytes: max_bytes, total_ms: timeout_ms },
        });
        const { hops, headers: received, ...rest } = answer;
        return { ...rest, headers: flat(received), hops: hops.map((hop) => hop.url) };
      },
    },
    openProxy() {
      const proxy = new egress.EgressProxy({
        guard,
        token: randomBytes(32).toString('base64url'),
        onConnection,
        ...injected,
      });
      proxies.push(proxy);
      return proxy;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([guarded, ...proxies].map((open) => open[Symbol.asyncDispose]()));
    },
  };
}

/** The run's own rules were checked at its submission. */
function isRule(rule: string, allowAddresses: readonly string[]): boolean {
  try {
    egress.createGuard({ rules: [rule], allowAddresses });
    return true;
  } catch (error) {
    if (error instanceof egress.EgressError && error.code === 'ERULEINVALID') return false;
    throw error;
  }
}

/** An allowlist names hosts: a decision opens no address. */
const isName = (target: string): boolean => isIP(target.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) === 0;

/** The values are read when a request is sent. */
const headersOf = ({ tenant, secrets: uses }: SecretScope, secrets: Secrets): egress.InjectedHeader[] =>
  uses.flatMap(({ name, as }) => {
    if (!('header' in as)) return [];
    const { host, name: header, value, plain_http: plainHttp } = as.header;
    const read = () => value.split('{}').join(headerText(name, secrets.resolve(name, { tenant })));
    return [{ host, name: header, plainHttp, value: read }];
  });

/** @throws SecretError for a value no header can carry */
function headerText(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  const message = `The secret ${name} has characters that no header can carry.`;
  throw new SecretError('ESECRETVALUE', message, { next: 'Store it as one line of printable ASCII.' });
}

const flat = (headers: Readonly<Record<string, string | string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

/** Logins at MCP servers: encrypted beside the secrets, with requests through the guard of the network. */
export const openOAuthHost = ({
  secrets,
  allowAddresses,
}: {
  secrets: Secrets;
  allowAddresses: readonly string[];
}): OAuthHost => ({
  logins: secrets.logins,
  secret: (name, at) => secrets.resolve(name, at),
  async send(request, signal) {
    const rule = hostOf(request);
    await using way = await openCallNetwork(
      // These are requests of Holdpoint, not of a run: no run permits them, and no secret of a run is sent with them.
      { network: { allow: [] }, reaches: [rule], scope: { tenant: defaultTenant, secrets: [] }, onConnection() {} },
      { allowAddresses, secrets },
    );
    if (way === undefined) throw noPublicAddress(rule);
    return await way.network.fetch(request, signal);
  },
  now: Date.now,
});

const noPublicAddress = (host: string): McpError =>
  new McpError(
    'EMCPAUTH',
    `${host} is no public address, so no login is asked for there.`,
    'An operator names the address in HOLDPOINT_ALLOW_ADDRESSES, when it is the right one.',
  );
