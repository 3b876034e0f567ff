import { EgressError } from './errors.ts';
import { type Hop, parseTarget } from './fetch-request.ts';
import type { HopResponse } from './send-request.ts';

/** Sent to another origin, too. Any other header may be a secret: authorization, cookie, x-api-key. */
const crossOriginHeaders = ['accept', 'accept-language', 'user-agent', 'content-type'];

/**
 * Plans the next hop; null for a response without a redirect. Methods change as in browsers: 303 becomes GET, and so does POST at 301
 * and 302.
 *
 * Throws `EgressError` EREDIRECTREFUSED.
 */
export function followRedirect(
  hop: Hop,
  { status, headers }: Pick<HopResponse, 'status' | 'headers'>,
  state: { followed: number; limit: number; mayFollow?: ((url: URL) => boolean) | undefined },
): Hop | null {
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

function parseLocation(from: Hop, location: string): URL {
  try {
    return parseTarget(location, from.url);
  } catch (error) {
    throw asRedirectError(from, error);
  }
}

/** A refused target of a redirect is the fault of the redirect, not of the caller. @param from null for the first hop */
export function asRedirectError(from: Hop | null, error: unknown): unknown {
  const refusals = ['EURLINVALID', 'ENETWORKOFF', 'EHOSTNOTALLOWED', 'EADDRESSREFUSED'];
  if (!from || !(error instanceof EgressError) || !refusals.includes(error.code)) return error;
  return refused(`${from.url.href} redirects to a refused target. ${error.message}`, error.next, error);
}

function refused(message: string, next: string, cause?: unknown): EgressError {
  return new EgressError('EREDIRECTREFUSED', message, { next, cause });
}
