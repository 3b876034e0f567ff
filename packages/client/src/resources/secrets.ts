import { type Secret, type SetSecret, secretListSchema, secretSchema } from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const secretRequests = ({ ask }: Transport) => ({
  /** Names of the secrets permitted to runs. No call returns a value. */
  async listSecrets({ signal }: Options = {}): Promise<Secret[]> {
    return (await ask({ path: '/v1/secrets', signal }, secretListSchema)).body.data;
  },

  /** @throws ApiError `secret_store_off`, `secret_taken` */
  async setSecret(name: string, body: SetSecret, { signal }: Options = {}): Promise<Secret> {
    return (await ask({ method: 'PUT', path: at('secrets', name), body, signal }, secretSchema)).body;
  },

  /** @throws ApiError `secret_not_found`, `secret_taken` */
  async removeSecret(name: string, { signal }: Options = {}): Promise<Secret> {
    return (await ask({ method: 'DELETE', path: at('secrets', name), signal }, secretSchema)).body;
  },
});
