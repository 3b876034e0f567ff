import type { AddPasskey, AssertionOptions, Passkey, RegistrationOptions } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { makePasskey, signWithPasskey } from '../platform/passkey.ts';
import { ask } from './request.ts';

export const passkeysKey = ['passkeys'];

/** The passkeys of the caller's person. */
export const usePasskeys = () =>
  useQuery({
    queryKey: passkeysKey,
    queryFn: async ({ signal }) => (await ask<{ data: Passkey[] }>({ path: '/v1/passkeys', signal })).data,
  });

/** Without a code a passkey that the person has signs first. @throws ApiProblem, NoAnswer, PasskeyRefused */
export async function addPasskey({ name, permit }: { name: string; permit: string }): Promise<Passkey> {
  const body = permit === '' ? {} : { permit };
  const begun = await ask<RegistrationOptions>({ method: 'POST', path: '/v1/passkeys/registration', body });
  const assertion = begun.assertion === null ? undefined : await signWithPasskey(begun.assertion);
  const registration = await makePasskey(begun.registration);
  const made: AddPasskey = { name, registration, assertion };
  return ask<Passkey>({ method: 'POST', path: '/v1/passkeys', body: made });
}

export const revokePasskey = (id: string): Promise<void> =>
  ask({ method: 'DELETE', path: `/v1/passkeys/${encodeURIComponent(id)}` });

/** Asks the API for the challenge of a decision, which the passkey signs. */
export const challengeOf = (id: string, body: object): Promise<AssertionOptions> =>
  ask({ method: 'POST', path: `/v1/approvals/${encodeURIComponent(id)}/challenge`, body });
