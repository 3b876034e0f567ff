import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { challengeMs } from '@holdpoint/contract';
import type { AssertionOptions } from '@holdpoint/contract/wire';
import type { FastifyRequest } from 'fastify';
import type { ApiDeps, ServerDeps } from '../deps.ts';
import { ApiProblem } from '../errors/to-problem.ts';

export const newNonce = (): string => randomBytes(32).toString('base64url');

/**
 * Asks a passkey of the caller's person to sign, and remembers the challenge in Redis: any API process takes the answer.
 * @throws ApiProblem `no_passkey`
 */
export async function askAssertion(
  { callers: { passkeys, personOf }, holder }: Pick<ApiDeps, 'callers' | 'holder'>,
  { origin, rpId }: Site,
  of: { use: 'decision' | 'passkey'; challenge: (signed: { nonce: string; person: string }) => string },
): Promise<AssertionOptions> {
  const { name: by, tenant } = holder.caller;
  const person = await personOf(holder);
  const own = (await passkeys.list({ tenant, person })).filter(({ rp_id }) => rp_id === rpId);
  if (own.length === 0) throw new ApiProblem('no_passkey', `${person} has no passkey for ${rpId}`);
  const nonce = newNonce();
  const challenge = of.challenge({ nonce, person });
  await passkeys.openChallenge(challenge, { use: of.use, nonce, tenant, person, by, rp_id: rpId, origin });
  const allowCredentials = own.map(({ credential_id: id, transports }) => ({
    ...{ type: 'public-key' as const, id, transports },
  }));
  return { challenge, rpId, allowCredentials, userVerification: 'required', timeout: challengeMs };
}

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
