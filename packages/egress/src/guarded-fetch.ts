import { EgressError } from './errors.ts';
import { deadline, defaultFetchLimits, type FetchLimits, resolveLimits } from './limits.ts';
import type { Body } from './read-body.ts';
import * as sending from './send-request.ts';

/** Sent to another origin, too. Any other header may be a secret: authorization, cookie, x-api-key. */
const crossOriginHeaders = ['accept', 'accept-language', 'user-agent', 'content-type'];

/**
 * Plans the next hop; null for a response without a redirect. Methods change as in browsers: 303 becomes GET, and so does POST at 301
 * and 302.
 *
 * Throws `EgressError` EREDIRECTREFUSED.
 */
function followRedirect(
  hop: sending.Hop,
  { status, headers }: Pick<sending.HopResponse, 'status' | 'headers'>,
  state: { followed: number; limit: number; mayFollow?: ((url: URL) => boolean) | undefined },
): sending.Hop | null {
  const [location] = [headers.location].flat();
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  if (state.followed >= state.limit) {
    throw refused(`${hop.url.href} redirects again after ${state.limit} redirects.`, 'Use the final URL.');
  }
  const url = parseLocation(hop, location);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${hop.url.href} redirects to ${url.href}, without encryption.`, 'Fetch that URL, if this is fine.');
  }
  if (state.mayFollow?.(url) === false) {
    throw refused(
      `${hop.url.href} redirects to ${url.href}, which this call may not follow.`,
      'Fetch that URL itself.',
    );
  }
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  const kept = Object.entries(hop.headers).filter(
    ([name]) =>
      (url.origin === hop.url.origin || crossOriginHeaders.includes(name)) &&
      !(becomesGet && name.startsWith('content-')),
  );
  const sent = { url, headers: Object.fromEntries(kept) };
  return becomesGet ? { ...sent, method: 'GET', body: null } : { ...hop, ...sent };
}

function parseLocation(from: sending.Hop, location: string): URL {
  try {
    return sending.parseTarget(location, from.url);
  } catch (error) {
    throw asRedirectError(from, error);
  }
}

/** A refused target of a redirect is the fault of the redirect, not of the caller. @param from null for the first hop */
function asRedirectError(from: sending.Hop | null, error: unknown): unknown {
  const refusals = ['EURLINVALID', 'ENETWORKOFF', 'EHOSTNOTALLOWED', 'EADDRESSREFUSED'];
  if (!from || !(error instanceof EgressError) || !refusals.includes(error.code)) return error;
  return refused(`${from.url.href} redirects to a refused target. ${error.message}`, error.next, error);
}

function refused(message: string, next: string, cause?: unknown): EgressError {
  return new EgressError('EREDIRECTREFUSED', message, { next, cause });
}

/** `onConnection` is called once for every connection, made or refused, at its end. The callback must not throw. */
export interface GuardedFetchOptions extends Pick<sending.SendDeps, 'guard' | 'onConnection'> {
  limits?: Partial<FetchLimits>;
  /** @default none */
  headers?: sending.InjectedHeaders;
  /** Certificates in PEM that are trusted in addition to public authorities. @default none */
  authorities?: readonly string[];
}

export interface FetchRequest {
  /** http or https, without credentials. */
  url: string;
  /** @default 'GET' */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  limits?: Partial<FetchLimits>;
  /** Cut and mark a body over its limit, or fail with ETOOLARGE. @default 'truncate' */
  tooLarge?: sending.SendDeps['tooLarge'];
  /** Whether to follow a redirect to this URL, in addition to the guard's verdict. A refusal is EREDIRECTREFUSED. @default yes */
  mayFollow?: ((url: URL) => boolean) | undefined;
  signal: AbortSignal;
}

/** `url`, `status` and `headers` belong to the last hop, the body is decompressed. */
interface FetchResult extends Pick<sending.HopResponse, 'status' | 'headers'>, Body {
  url: string;
  /** Every hop, the last included. */
  hops: readonly { url: string; status: number }[];
}

export interface GuardedFetch extends AsyncDisposable {
  /**
   * Fetches a URL and judges every hop. An HTTP error status is a result.
   *
   * Throws `EgressError` with any code but ERULEINVALID; the reason of an aborted signal.
   */
  fetch(request: FetchRequest): Promise<FetchResult>;
}

/**
 * Fetches from the host under a guard. Every hop has a connection of its own, so the judged address is the address in use.
 *
 * @example
 * await using web = openGuardedFetch({ guard, onConnection: (connection) => log(connection) });
 * const { status, body } = await web.fetch({ url: 'https://example.com/', signal });
 */
export function openGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    async fetch(request) {
      const fetching = fetchFollowing(options, request, closing.signal);
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

async function fetchFollowing(
  { guard, onConnection, ...options }: GuardedFetchOptions,
  request: FetchRequest,
  closing: AbortSignal,
): Promise<FetchResult> {
  const limits = resolveLimits(defaultFetchLimits, options.limits, request.limits);
  const { headers = sending.noHeaders, authorities = [] } = options;
  const tooLarge = request.tooLarge ?? 'truncate';
  const deps: sending.SendDeps = { guard, onConnection, limits, headers, authorities, tooLarge };
  using total = deadline(limits.total_ms, `${limits.total_ms} ms were not enough for the whole answer.`);
  const signal = AbortSignal.any([request.signal, closing, total.signal]);
  signal.throwIfAborted();
  const { mayFollow } = request;
  const hops: { url: string; status: number }[] = [];
  let hop = sending.parseRequest(request);
  let from: sending.Hop | null = null;
  while (true) {
    await using response = await sending.sendRequest(deps, hop, signal).catch((error: unknown) => {
      throw asRedirectError(from, error);
    });
    const { status, headers } = response;
    const url = hop.url.href;
    hops.push({ url, status });
    const next = followRedirect(hop, response, { followed: hops.length - 1, limit: limits.redirects, mayFollow });
    if (!next) return { url, status, headers, ...(await response.read()), hops };
    [from, hop] = [hop, next];
  }
}
