import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

export const keyRequests = ({ ask }: Transport) => ({
  /** The caller behind the key, and the powers of the key. */
  async getMe({ signal }: Options = {}): Promise<wire.Me> {
    return (await ask({ path: '/v1/me', signal }, wire.meSchema)).body;
  },

  /** Newest first, revoked and expired ones too. */
  async listKeys(
    query: PageQuery & { tenant?: string | undefined } = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.Key>> {
    return (await ask({ path: '/v1/keys', query: { ...query }, signal }, wire.keyPageSchema)).body;
  },

  async getKey(id: string, { signal }: Options = {}): Promise<wire.Key> {
    return (await ask({ path: at('keys', id), signal }, wire.keySchema)).body;
  },

  /** The answer has the text of the key. No later request can read the text again. */
  async createKey(body: wire.CreateKey, { signal }: Options = {}): Promise<wire.IssuedKey> {
    return (await ask({ method: 'POST', path: '/v1/keys', body, signal }, wire.issuedKeySchema)).body;
  },

  /** Gives the key another text; the text before stays valid for `grace_s` seconds. */
  async rotateKey(id: string, body: wire.RotateKey = {}, { signal }: Options = {}): Promise<wire.IssuedKey> {
    return (await ask({ method: 'POST', path: at('keys', id, '/rotate'), body, signal }, wire.issuedKeySchema)).body;
  },

  async revokeKey(id: string, { signal }: Options = {}): Promise<wire.Key> {
    return (await ask({ method: 'DELETE', path: at('keys', id), signal }, wire.keySchema)).body;
  },
});
