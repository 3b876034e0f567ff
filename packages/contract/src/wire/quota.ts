import { z } from 'zod';
import { tenantSchema } from '../caller.ts';
import { quotasSchema, quotaUseSchema } from '../quota.ts';

/** GET /v1/quotas, GET and PUT /v1/quotas/{tenant}. */
export const quotaViewSchema = z
  .strictObject({
    tenant: tenantSchema,
    version: z.int().describe('Grows with each change; 0: never set'),
    quotas: quotasSchema,
    used: quotaUseSchema.describe('By the tenant, today'),
    own: quotaUseSchema.nullable().describe('By the person of the key, today; null: of another tenant'),
    frees_at: z.iso.datetime().describe('When the quotas of a day begin again'),
  })
  .meta({ id: 'Quotas' });
export type QuotaView = z.infer<typeof quotaViewSchema>;

export const quotaParamsSchema = z.strictObject({ tenant: tenantSchema });

/** PUT /v1/quotas/{tenant}. */
export const putQuotasSchema = z.strictObject({
  ...quotasSchema.shape,
  version: z.int().min(0).optional().describe('The version that this replaces. Default: whatever is there'),
});
export type PutQuotas = z.input<typeof putQuotasSchema>;
