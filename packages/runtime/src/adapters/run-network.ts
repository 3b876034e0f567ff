import { randomBytes } from 'node:crypto';
import { createGuard, type EgressConnection, EgressProxy, openGuardedFetch } from '@holdpoint/egress';
import type { Connection, ExecutionContext } from '@holdpoint/engine/ports';
import type { Network } from '@holdpoint/tools/tool';

/** One call's way out: for the tools that fetch, and for the commands they run. */
export interface CallNetwork extends AsyncDisposable {
  network: Network;
  /** A new proxy with a token of its own, closed with this. */
  openProxy(): EgressProxy;
}

/** Opens what the run's allowlist lets through; undefined when the run has no network. Every connection is told to the engine. */
export function openCallNetwork(
  { network, onConnection }: Pick<ExecutionContext, 'network' | 'onConnection'>,
  operator: { allowAddresses: readonly string[] },
): CallNetwork | undefined {
  if (network.allow.length === 0) return undefined;
  const guard = createGuard({ rules: network.allow, allowAddresses: operator.allowAddresses });
  const report = (connection: EgressConnection): void => onConnection(toConnection(connection));
  const guarded = openGuardedFetch({ guard, onConnection: report });
  const proxies: EgressProxy[] = [];
  return {
    network: {
      hosts: network.allow,
      async fetch({ url, method, headers, max_bytes, timeout_ms }, signal) {
        const answer = await guarded.fetch({
          url,
          ...(method === undefined ? {} : { method }),
          ...(headers === undefined ? {} : { headers }),
          limits: {
            ...(max_bytes === undefined ? {} : { body_bytes: max_bytes }),
            ...(timeout_ms === undefined ? {} : { total_ms: timeout_ms }),
          },
          signal,
        });
        const { hops, headers: received, ...rest } = answer;
        return { ...rest, headers: flat(received), hops: hops.map((hop) => hop.url) };
      },
    },
    openProxy() {
      const proxy = new EgressProxy({ guard, token: randomBytes(32).toString('base64url'), onConnection: report });
      proxies.push(proxy);
      return proxy;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([guarded, ...proxies].map((open) => open[Symbol.asyncDispose]()));
    },
  };
}

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.join(', ') : value]];
    }),
  );

function toConnection({ host, port, address, verdict, code, bytes_up, bytes_down, ms }: EgressConnection): Connection {
  return {
    host,
    port,
    verdict,
    bytes_up,
    bytes_down,
    duration_ms: ms,
    ...(address === undefined ? {} : { address }),
    ...(code === null ? {} : { reason: code }),
  };
}
