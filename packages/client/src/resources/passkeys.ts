import { type Passkey, type PasskeyPermit, passkeyListSchema, passkeyPermitSchema } from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

interface Of {
  /** @default the person of the key */
  person?: string | undefined;
  tenant?: string | undefined;
}

/** Passkeys are made and used by browsers, in the console: a program lists, revokes and permits them. */
export const passkeyRequests = ({ ask, send }: Transport) => ({
  async listPasskeys(query: Of = {}, options: ListOptions = {}): Promise<Passkey[]> {
    const request = { path: '/v1/passkeys', query: { ...query }, signal: options.signal };
    return entriesOf((await ask(request, passkeyListSchema)).body, options);
  },

  async revokePasskey(id: string, { signal }: Options = {}): Promise<void> {
    await (await send({ method: 'DELETE', path: at('passkeys', id), signal })).text();
  },

  /** A code with which a person adds a passkey, once, within an hour. With the key in the key file alone. */
  permitPasskey: async (
    body: { person: string; tenant?: string | undefined },
    { signal }: Options = {},
  ): Promise<PasskeyPermit> =>
    (await ask({ method: 'POST', path: '/v1/passkeys/permits', body, signal }, passkeyPermitSchema)).body,
});
