import {
  type CreateKey,
  type IssuedKey,
  issuedKeySchema,
  type Key,
  keyPageSchema,
  keySchema,
  type Me,
  meSchema,
  type Page,
  type RotateKey,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

export const keyRequests = ({ ask }: Transport) => ({
  /** The caller behind the key, and the powers of the key. */
  async getMe({ signal }: Options = {}): Promise<Me> {
    return (await ask({ path: '/v1/me', signal }, meSchema)).body;
  },

  /** Newest first, revoked and expired ones too. */
  async listKeys(
    query: PageQuery & { tenant?: string | undefined } = {},
    { signal }: Options = {},
  ): Promise<Page<Key>> {
    return (await ask({ path: '/v1/keys', query: { ...query }, signal }, keyPageSchema)).body;
  },

  async getKey(id: string, { signal }: Options = {}): Promise<Key> {
    return (await ask({ path: at('keys', id), signal }, keySchema)).body;
  },

  /** The answer has the text of the key. No later request can read the text again. */
  async createKey(body: CreateKey, { signal }: Options = {}): Promise<IssuedKey> {
    return (await ask({ method: 'POST', path: '/v1/keys', body, signal }, issuedKeySchema)).body;
  },

  /** Gives the key another text; the text before stays valid for `grace_s` seconds. */
  async rotateKey(id: string, body: RotateKey = {}, { signal }: Options = {}): Promise<IssuedKey> {
    return (await ask({ method: 'POST', path: at('keys', id, '/rotate'), body, signal }, issuedKeySchema)).body;
  },

  async revokeKey(id: string, { signal }: Options = {}): Promise<Key> {
    return (await ask({ method: 'DELETE', path: at('keys', id), signal }, keySchema)).body;
  },
});
