import { type PutQuotas, type QuotaView, quotaViewSchema } from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const quotaRequests = ({ ask }: Transport) => ({
  /** @param tenant another one than that of the key needs the scope queues:admin */
  async getQuotas(tenant?: string, { signal }: Options = {}): Promise<QuotaView> {
    const path = tenant === undefined ? '/v1/quotas' : at('quotas', tenant);
    return (await ask({ path, signal }, quotaViewSchema)).body;
  },

  /** Replaces the quotas of a tenant. */
  async putQuotas(tenant: string, body: PutQuotas, { signal }: Options = {}): Promise<QuotaView> {
    return (await ask({ method: 'PUT', path: at('quotas', tenant), body, signal }, quotaViewSchema)).body;
  },
});
