import { EgressError } from './errors.ts';
import { type Hop, parseTarget } from './fetch-request.ts';

/** All that another origin is told. Everything else may be a secret: authorization, cookie, x-api-key. */
const CROSS_ORIGIN_HEADERS = ['accept', 'accept-language', 'user-agent', 'content-type'];

/**
 * The next hop, or null for an answer that does not redirect. Methods change as in browsers: 303 becomes GET; so does POST at 301 and 302.
 *
 * Throws `EgressError` EREDIRECTREFUSED.
 */
export function followRedirect(
  hop: Hop,
  answer: { status: number; location: string | undefined },
  state: { followed: number; limit: number },
): Hop | null {
  if (![301, 302, 303, 307, 308].includes(answer.status) || answer.location === undefined) return null;
  if (state.followed >= state.limit) {
    throw refused(`${hop.url.href} redirects again after ${state.limit} redirects.`, 'Use the final URL.');
  }
  const url = refusedAs(hop, () => parseTarget(answer.location ?? '', hop.url));
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${hop.url.href} redirects to ${url.href}, without encryption.`, 'Fetch that URL, if this is fine.');
  }
  const becomesGet = (answer.status === 303 && hop.method !== 'HEAD') || (answer.status < 303 && hop.method === 'POST');
  const kept = Object.entries(hop.headers).filter(
    ([name]) =>
      (url.origin === hop.url.origin || CROSS_ORIGIN_HEADERS.includes(name)) &&
      !(becomesGet && name.startsWith('content-')),
  );
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? null : hop.body,
  };
}

/** What is wrong with the target of a redirect is the redirect's fault, not the caller's. */
function refusedAs<T>(from: Hop, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw asRedirectError(from, error);
  }
}

export function asRedirectError(from: Hop, error: unknown): unknown {
  const refusals = ['EURLINVALID', 'ENETWORKOFF', 'EHOSTNOTALLOWED', 'EADDRESSREFUSED'];
  if (!(error instanceof EgressError) || !refusals.includes(error.code)) return error;
  return refused(`${from.url.href} redirects to where it may not lead. ${error.message}`, error.next, error);
}

function refused(message: string, next: string, cause?: unknown): EgressError {
  return new EgressError('EREDIRECTREFUSED', message, { next, cause });
}
