import type { Network, NetworkRequest, NetworkResponse } from '../network.ts';

/** The network of a run that may reach the given hosts. It has no guard, so it is only for servers of a test. */
export function loopbackNetwork(options: { allow: readonly string[]; timeout_ms?: number }): Network {
  return {
    hosts: options.allow,
    isListed: ({ host, port }) => options.allow.includes(`${host}:${port}`),
    async fetch(request, signal) {
      const { host } = parse(request.url);
      if (!options.allow.includes(host)) {
        throw new NetworkError('EHOSTNOTALLOWED', `${host} is not on the run's allowlist.`, 'Ask for it.');
      }
      const timeout = AbortSignal.timeout(options.timeout_ms ?? request.timeout_ms ?? 10_000);
      try {
        return await follow(request, options.allow, AbortSignal.any([signal, timeout]));
      } catch (error) {
        if (error instanceof NetworkError) throw error;
        signal.throwIfAborted();
        if (timeout.aborted) throw new NetworkError('ETIMEOUT', `${host} did not answer in time.`, 'Try again later.');
        throw new NetworkError('ENETWORK', `${host}: ${String(error)}`, 'Try again later.');
      }
    },
  };
}

class NetworkError extends Error {
  readonly code: string;
  readonly next: string;

  constructor(code: string, message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

function parse(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw new NetworkError('EURLINVALID', `${url} is not a URL.`, 'Write an absolute URL.');
}

/** Judges each redirect, as the real network does. */
async function follow(
  request: NetworkRequest,
  allow: readonly string[],
  signal: AbortSignal,
  hops: string[] = [request.url],
): Promise<NetworkResponse> {
  const response = await exchange(request, signal);
  const { location } = response.headers;
  if (location === undefined || response.status < 300 || response.status > 399) return { ...response, hops };
  const next = new URL(location, request.url);
  if (!allow.includes(next.host) || request.mayFollow?.(next) === false) {
    throw new NetworkError('EREDIRECTREFUSED', `${request.url} redirects to ${next.href}.`, 'Fetch that URL itself.');
  }
  return follow({ ...request, url: next.href }, allow, signal, [...hops, next.href]);
}

async function exchange(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse> {
  const response = await fetch(request.url, {
    method: request.method ?? 'GET',
    headers: request.headers ?? {},
    redirect: 'manual',
    ...(request.body !== undefined && { body: Buffer.from(request.body) }),
    signal,
  });
  const limit = request.max_bytes ?? Number.POSITIVE_INFINITY;
  const whole = Buffer.from(await response.arrayBuffer());
  return {
    url: response.url,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: whole.subarray(0, Math.min(limit, whole.length)),
    truncated: whole.length > limit,
    hops: [request.url],
  };
}
