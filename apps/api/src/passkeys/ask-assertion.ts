import { randomBytes } from 'node:crypto';
import { challengeMs } from '@holdpoint/contract';
import type { AssertionOptions } from '@holdpoint/contract/wire';
import type { ApiDeps } from '../deps.ts';
import { ApiProblem } from '../errors/api-problem.ts';
import type { Site } from './site-of.ts';

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
