import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { ServerDeps } from '../deps.ts';
import { ApiProblem } from '../errors/api-problem.ts';

/** The page that asks a browser for a passkey. */
export interface Site {
  origin: string;
  /** The name that the passkeys of the page are made for. */
  rpId: string;
}

/**
 * The page of a request: `guardHost` has compared its Origin with a name of this server. Passkeys know names and no addresses, so a page at
 * 127.0.0.1 has none.
 * @throws ApiProblem `passkey_address`
 */
export function siteOf(
  { passkeyDomain }: Pick<ServerDeps, 'passkeyDomain'>,
  { headers }: Pick<FastifyRequest, 'headers'>,
): Site {
  const { origin } = headers;
  if (origin === undefined) {
    throw new ApiProblem('passkey_address', 'a passkey signs in a browser, and this request has no header Origin');
  }
  const { hostname, port, protocol } = new URL(origin);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new ApiProblem('passkey_address', `a passkey is made for a name, and ${hostname} is an address`, {
      next: `Open the console at ${protocol}//localhost${port === '' ? '' : `:${port}`} on this machine, or at a name of the server (HOLDPOINT_API_HOSTS).`,
    });
  }
  const isBelow = passkeyDomain !== undefined && (hostname === passkeyDomain || hostname.endsWith(`.${passkeyDomain}`));
  return { origin, rpId: isBelow ? passkeyDomain : hostname };
}
