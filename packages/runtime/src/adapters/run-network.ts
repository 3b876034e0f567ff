import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { SecretScope } from '@holdpoint/contract';
import {
  createAuthority,
  createGuard,
  EgressProxy,
  type InjectedHeader,
  openGuardedFetch,
  openInjectedHeaders,
} from '@holdpoint/egress';
import type { ExecutionContext } from '@holdpoint/engine/worker';
import { SecretError, type Secrets } from '@holdpoint/secrets';
import type { Network } from '@holdpoint/tools';

/** The network of one call: for tools that fetch, and for the commands they run. */
export interface CallNetwork extends AsyncDisposable {
  network: Network;
  /** A new proxy with a token of its own, closed with this. */
  openProxy(): EgressProxy;
}

/** Opens what the run's allowlist lets through; undefined when the run has no network. Reports every connection to the engine. */
export async function openCallNetwork(
  {
    network,
    granted,
    scope,
    onConnection,
  }: Pick<ExecutionContext, 'network' | 'scope' | 'onConnection'> & Partial<Pick<ExecutionContext, 'granted'>>,
  operator: { allowAddresses: readonly string[]; secrets: Secrets },
): Promise<CallNetwork | undefined> {
  if (network.allow.length === 0) return undefined;
  const rules = [...network.allow, ...(granted ?? []).filter(isName)];
  const guard = createGuard({ rules, allowAddresses: operator.allowAddresses });
  const headers = openInjectedHeaders(headersOf(scope, operator.secrets));
  const injected = headers.isEmpty ? {} : { injected: { headers, authority: await createAuthority() } };
  const guarded = openGuardedFetch({ guard, onConnection, headers });
  const proxies: EgressProxy[] = [];
  return {
    network: {
      hosts: network.allow,
      isListed: guard.lists,
      async fetch({ url, method, headers, body, max_bytes, timeout_ms }, signal) {
        const answer = await guarded.fetch({
          ...{ url, method, headers, body, signal },
          limits: { body_bytes: max_bytes, total_ms: timeout_ms },
        });
        const { hops, headers: received, ...rest } = answer;
        return { ...rest, headers: flat(received), hops: hops.map((hop) => hop.url) };
      },
    },
    openProxy() {
      const proxy = new EgressProxy({ guard, token: randomBytes(32).toString('base64url'), onConnection, ...injected });
      proxies.push(proxy);
      return proxy;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([guarded, ...proxies].map((open) => open[Symbol.asyncDispose]()));
    },
  };
}

/** An allowlist names hosts: a decision opens no address. */
const isName = (target: string): boolean => isIP(target.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) === 0;

/** The values are read when a request is sent. */
const headersOf = ({ tenant, secrets: uses }: SecretScope, secrets: Secrets): InjectedHeader[] =>
  uses.flatMap(({ name, as }) => {
    if (!('header' in as)) return [];
    const { host, name: header, value, plain_http: plainHttp } = as.header;
    const read = () => value.split('{}').join(headerText(name, secrets.resolve(name, { tenant })));
    return [{ host, name: header, plainHttp, value: read }];
  });

/** @throws SecretError for a value that no header can carry */
function headerText(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  const message = `The secret ${name} has characters that no header can carry.`;
  throw new SecretError('ESECRETVALUE', message, { next: 'Store it as one line of printable ASCII.' });
}

const flat = (headers: Readonly<Record<string, string | string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
