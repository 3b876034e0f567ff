import { isDeepStrictEqual } from 'node:util';
import { passkeyIdOf } from '@holdpoint/callers';
import type { DecisionToConfirm, PasskeyAssertion } from '@holdpoint/contract';
import type { AssertionResponse } from '@holdpoint/contract/wire';
import { type Confirm, challengeOf, counterOf, EngineError, whyUnproven } from '@holdpoint/engine';
import type { ApiDeps } from '../deps.ts';

type Signed = Pick<PasskeyAssertion, 'nonce' | 'person'>;

/**
 * Verifies what a passkey of the caller's person has signed, and uses the challenge up, once on all processes. The signature is verified
 * before: a wrong one leaves the challenge to its person.
 * @param of.challenge what had to be signed, from the server's part
 * @returns the assertion, or why it is refused
 */
export async function takeAssertion(
  { callers: { passkeys, personOf }, holder }: Pick<ApiDeps, 'callers' | 'holder'>,
  { id: credential_id, response }: AssertionResponse,
  of: { use: 'decision' | 'passkey'; challenge: (signed: Signed) => string },
): Promise<PasskeyAssertion | { refused: string }> {
  const { caller } = holder;
  const challenge = challengeIn(response.clientDataJSON);
  const asked = challenge === undefined ? undefined : await passkeys.readChallenge(challenge);
  if (challenge === undefined || asked?.use !== of.use) return { refused: gone };
  if (asked.tenant !== caller.tenant || asked.by !== caller.name) return { refused: `${gone}, or of another caller` };
  const id = passkeyIdOf(credential_id);
  const passkey = await passkeys.find(id);
  const person = await personOf(holder);
  const isOwn = passkey?.tenant === caller.tenant && passkey.person === person && asked.person === person;
  if (!isOwn || passkey.credential_id !== credential_id) return { refused: `this is no passkey of ${person}` };
  const assertion: PasskeyAssertion = {
    ...{ v: 1, nonce: asked.nonce, person, credential_id, public_key: passkey.public_key },
    ...{ rp_id: asked.rp_id, origin: asked.origin, client_data_json: response.clientDataJSON },
    ...{ authenticator_data: response.authenticatorData, signature: response.signature },
  };
  const reason = await whyUnproven(assertion, of.challenge({ nonce: asked.nonce, person }));
  if (reason !== undefined) return { refused: reason };
  const used = await passkeys.use({ challenge, id, counter: counterOf(assertion) });
  return used === 'used' ? assertion : { refused: reasons[used] };
}

const gone = 'its challenge was used before, is older than five minutes, or was never asked for';
const reasons = {
  gone,
  revoked: 'the passkey was revoked',
  counter: 'its counter went back: there is a copy of this passkey. Revoke it',
};

/** The challenge that the browser says was signed: the signature shows whether it was. */
export function challengeIn(clientData: string): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** Proves a decision with the assertion of its request. A second try of the same request, after a contended append, uses nothing up. */
export function confirmWith(deps: ApiDeps, response: AssertionResponse): Confirm {
  let taken: { decision: DecisionToConfirm; assertion: PasskeyAssertion } | undefined;
  return async (decision) => {
    taken ??= { decision, assertion: await take(deps, response, decision) };
    if (!isDeepStrictEqual(taken.decision, decision)) throw refused('what is decided has changed in the meantime');
    return taken.assertion;
  };
}

async function take(
  deps: ApiDeps,
  response: AssertionResponse,
  decision: DecisionToConfirm,
): Promise<PasskeyAssertion> {
  const challenge = (signed: Parameters<typeof challengeOf>[1]) => challengeOf(decision, signed);
  const taken = await takeAssertion(deps, response, { use: 'decision', challenge });
  if ('refused' in taken) throw refused(taken.refused);
  return taken;
}

const refused = (why: string): EngineError =>
  new EngineError('passkey_refused', `the passkey does not prove this decision: ${why}`);
