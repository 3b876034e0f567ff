import { createHash } from 'node:crypto';
import { passkeyIdOf, type StoredPasskey } from '@holdpoint/callers';
import { challengeMs, passkeySubject } from '@holdpoint/contract';
import type { AddPasskey, RegistrationOptions } from '@holdpoint/contract/wire';
import { challengeToAdd, checkRegistration, passkeyAlgorithms } from '@holdpoint/engine';
import { type ApiDeps, recordChange } from '../deps.ts';
import { ApiProblem } from '../errors/to-problem.ts';
import { askAssertion, newNonce, type Site } from './ask-assertion.ts';
import { challengeIn, takeAssertion } from './confirm-with.ts';

/**
 * Begins the registration of a passkey. A code of the operator permits it, or a passkey that the person has: a key or a session alone can
 * be stolen, and the thief could release calls from then on.
 * @throws ApiProblem `passkey_not_allowed`, `no_passkey`; CallerError `permit_refused`
 */
export async function beginRegistration(
  deps: ApiDeps,
  site: Site,
  { permit: code }: { permit?: string | undefined },
): Promise<RegistrationOptions> {
  const { callers, holder } = deps;
  const { name: by, tenant, kind } = holder.caller;
  if (kind !== 'person') throw new ApiProblem('passkey_not_allowed', `${by} is a key of kind ${kind}`);
  const person = await callers.personOf(holder);
  const permit = code === undefined ? undefined : await callers.passkeys.checkPermit(code, { tenant, person });
  const challenge = newNonce();
  const signed = (of: { nonce: string; person: string }) =>
    challengeToAdd({ registration: challenge, tenant, by, ...of });
  const assertion = permit === undefined ? await askAssertion(deps, site, { use: 'passkey', challenge: signed }) : null;
  await callers.passkeys.openChallenge(challenge, {
    ...{ use: 'registration', nonce: challenge, tenant, person, by, permit },
    ...{ rp_id: site.rpId, origin: site.origin },
  });
  const known = await callers.passkeys.list({ tenant, person });
  return { registration: optionsOf({ challenge, site, by, tenant, person, known }), assertion };
}

function optionsOf(input: {
  challenge: string;
  site: Site;
  by: string;
  tenant: string;
  person: string;
  known: readonly StoredPasskey[];
}): RegistrationOptions['registration'] {
  const { challenge, site, by, tenant, person, known } = input;
  const id = createHash('sha256')
    .update(JSON.stringify([tenant, person]))
    .digest('base64url');
  return {
    challenge,
    rp: { id: site.rpId, name: 'Holdpoint' },
    user: { id, name: by, displayName: person },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known
      .filter(({ rp_id }) => rp_id === site.rpId)
      .map(({ credential_id, transports }) => ({ type: 'public-key', id: credential_id, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    attestation: 'none',
    timeout: challengeMs,
  };
}

/**
 * Adds the passkey. The audit log has it before it can sign: a decision by a passkey that the log does not know would be a finding for good.
 * @throws ApiProblem `registration_refused`; CallerError `challenge_gone`, `permit_refused`, `passkey_taken`, `too_many_passkeys`
 */
export async function addPasskey(deps: ApiDeps, { name, registration, assertion }: AddPasskey): Promise<StoredPasskey> {
  const { callers, holder, now } = deps;
  const { name: by, tenant } = holder.caller;
  const challenge = challengeIn(registration.response.clientDataJSON);
  const asked = challenge === undefined ? undefined : await callers.passkeys.readChallenge(challenge);
  const isOwn =
    asked?.use === 'registration' &&
    asked.tenant === tenant &&
    asked.by === by &&
    asked.person === (await callers.personOf(holder));
  if (!isOwn || challenge === undefined)
    throw refused('it was completed before, is older than five minutes, or of another caller');
  const { person, rp_id, origin, permit } = asked;
  const made = await checkRegistration(registration, { challenge, origin, rpId: rp_id });
  if ('refused' in made) throw refused(made.refused);
  if (permit === undefined) await assertPermitted(deps, challenge, assertion);
  const { counter, ...key } = made;
  const id = passkeyIdOf(made.credential_id);
  const created_at = new Date(now()).toISOString();
  const stored: StoredPasskey = { id, tenant, person, name, ...key, rp_id, created_at, created_by: by };
  await recordPasskey(deps, stored, 'registered');
  try {
    await callers.passkeys.add(stored, { challenge, counter, permit });
  } catch (error) {
    // A passkey registered before stays, and the log has its registration twice.
    if ((await callers.passkeys.find(id)) === undefined) await recordPasskey(deps, stored, 'revoked');
    throw error;
  }
  return stored;
}

async function assertPermitted(deps: ApiDeps, registration: string, assertion: AddPasskey['assertion']): Promise<void> {
  if (assertion === undefined) throw refused('a present passkey has to sign first, and there is no assertion');
  const { tenant, name: by } = deps.holder.caller;
  const challenge = (signed: { nonce: string; person: string }) =>
    challengeToAdd({ registration, tenant, by, ...signed });
  const taken = await takeAssertion(deps, assertion, { use: 'passkey', challenge });
  if ('refused' in taken) throw refused(`the present passkey does not permit it: ${taken.refused}`);
}

const refused = (why: string): ApiProblem =>
  new ApiProblem('registration_refused', `the passkey was not added: ${why}`);

/** `audit verify` compares the decisions of a passkey with this record. */
export function recordPasskey(deps: ApiDeps, stored: StoredPasskey, action: 'registered' | 'revoked'): Promise<void> {
  const { id, name, person, credential_id, public_key, rp_id } = stored;
  const detail = { person, credential_id, public_key, rp_id, name, session: deps.holder.session ?? null };
  return recordChange(deps, { subject: passkeySubject(id), action, detail });
}
