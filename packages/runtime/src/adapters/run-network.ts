import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { createGuard, EgressProxy, openGuardedFetch } from '@holdpoint/egress';
import type { ExecutionContext } from '@holdpoint/engine/worker';
import type { Network } from '@holdpoint/tools';

/** The network of one call: for tools that fetch, and for the commands they run. */
export interface CallNetwork extends AsyncDisposable {
  network: Network;
  /** A new proxy with a token of its own, closed with this. */
  openProxy(): EgressProxy;
}

/** Opens what the run's allowlist lets through; undefined when the run has no network. Reports every connection to the engine. */
export function openCallNetwork(
  {
    network,
    granted,
    onConnection,
  }: Pick<ExecutionContext, 'network' | 'onConnection'> & Partial<Pick<ExecutionContext, 'granted'>>,
  operator: { allowAddresses: readonly string[] },
): CallNetwork | undefined {
  if (network.allow.length === 0) return undefined;
  const rules = [...network.allow, ...(granted ?? []).filter(isName)];
  const guard = createGuard({ rules, allowAddresses: operator.allowAddresses });
  const guarded = openGuardedFetch({ guard, onConnection });
  const proxies: EgressProxy[] = [];
  return {
    network: {
      hosts: network.allow,
      isListed: guard.lists,
      async fetch({ url, method, headers, max_bytes, timeout_ms }, signal) {
        const answer = await guarded.fetch({
          ...{ url, method, headers, signal },
          limits: { body_bytes: max_bytes, total_ms: timeout_ms },
        });
        const { hops, headers: received, ...rest } = answer;
        return { ...rest, headers: flat(received), hops: hops.map((hop) => hop.url) };
      },
    },
    openProxy() {
      const proxy = new EgressProxy({ guard, token: randomBytes(32).toString('base64url'), onConnection });
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

const flat = (headers: Readonly<Record<string, string | string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
