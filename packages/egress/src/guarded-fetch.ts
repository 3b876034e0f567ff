import type { EgressConnection } from './connection-report.ts';
import { deadline } from './deadline.ts';
import { type ExchangeDeps, exchange } from './exchange.ts';
import { defaultFetchLimits, type FetchLimits } from './fetch-limits.ts';
import { type Hop, planHop } from './fetch-request.ts';
import type { Guard } from './guard.ts';
import { asRedirectError, followRedirect } from './redirect.ts';
import { resolveLimits } from './resolve-limits.ts';

export interface GuardedFetchOptions {
  guard: Guard;
  /** Called once for every connection that was made or refused, when it has ended. Must not throw. */
  onConnection(connection: EgressConnection): void;
  limits?: Partial<FetchLimits>;
  /** PEM certificates to trust beside the system's, for internal services. @default [] */
  certificates?: readonly string[];
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
}

export interface FetchRequest {
  /** http or https, without credentials. */
  url: string;
  /** @default 'GET' */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  limits?: Partial<FetchLimits>;
  /** A body over its limit is cut and marked, or the fetch fails with ETOOLARGE. @default 'truncate' */
  tooLarge?: 'truncate' | 'fail';
  signal: AbortSignal;
}

interface FetchResult {
  /** Of the last hop. */
  url: string;
  status: number;
  /** As they were sent: `content-encoding` and `content-length` speak of the body before it was decompressed. */
  headers: Readonly<Record<string, string | string[]>>;
  /** Decompressed. */
  body: Buffer;
  truncated: boolean;
  /** Every answer, the last one included. */
  hops: readonly { url: string; status: number }[];
}

export interface GuardedFetch extends AsyncDisposable {
  /**
   * Fetches a URL, judging every hop. An HTTP error status is a result.
   *
   * Throws `EgressError` with any code but ERULEINVALID; the signal's reason when it aborts.
   */
  fetch(request: FetchRequest): Promise<FetchResult>;
}

/**
 * Fetches from the host under a guard. Every hop has a connection of its own, so what was judged is what is used.
 *
 * @example
 * await using web = openGuardedFetch({ guard, onConnection: (connection) => log(connection) });
 * const { status, body } = await web.fetch({ url: 'https://example.com/', signal });
 */
export function openGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const deps = { ...options, certificates: options.certificates ?? [], now: options.now ?? Date.now };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    async fetch(request) {
      const fetching = fetchFollowing(deps, request, closing.signal);
      running.add(fetching);
      try {
        return await fetching;
      } finally {
        running.delete(fetching);
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the guarded fetch was closed'));
      await Promise.allSettled(running);
    },
  };
}

type FetchDeps = Omit<ExchangeDeps, 'limits'> & Pick<GuardedFetchOptions, 'limits'>;

async function fetchFollowing(deps: FetchDeps, request: FetchRequest, closing: AbortSignal): Promise<FetchResult> {
  const limits = resolveLimits(defaultFetchLimits, deps.limits, request.limits);
  using total = deadline(limits.total_ms, `${limits.total_ms} ms were not enough for the whole answer.`);
  const signal = AbortSignal.any([request.signal, closing, total.signal]);
  signal.throwIfAborted();
  const hops: { url: string; status: number }[] = [];
  let hop = planHop(request);
  let from: Hop | null = null;
  while (true) {
    await using answer = await exchange({ ...deps, limits }, hop, signal).catch(redirectErrorFrom(from));
    hops.push({ url: hop.url.href, status: answer.status });
    const next = followRedirect(hop, answer, { followed: hops.length - 1, limit: limits.redirects });
    if (!next) {
      const { body, truncated } = await answer.read({ limits, tooLarge: request.tooLarge ?? 'truncate' });
      return { url: hop.url.href, status: answer.status, headers: answer.headers, body, truncated, hops };
    }
    [from, hop] = [hop, next];
  }
}

function redirectErrorFrom(from: Hop | null) {
  return (error: unknown): never => {
    throw from ? asRedirectError(from, error) : error;
  };
}
