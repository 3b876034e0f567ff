import { z } from 'zod';

const most = z.int().min(1).max(1_000_000_000_000).optional();

/** An absent quota does not bind. Days begin at midnight, UTC. */
export const quotaLimitsSchema = z.strictObject({
  runs_at_once: most.describe('Runs that have not ended, without sub-agents'),
  runs_per_day: most.describe('Runs submitted and forked in a day'),
  tokens_per_day: most.describe('Tokens that models read and write in a day, with sub-agents'),
  cost_usd_per_day: z.number().positive().max(1e9).optional().describe('Cost of models in a day, in dollars'),
});
export type QuotaLimits = z.infer<typeof quotaLimitsSchema>;

/** What binds a tenant as a whole, and each person of it. */
export const quotasSchema = z.strictObject({
  tenant: quotaLimitsSchema.default({}),
  person: quotaLimitsSchema.default({}),
});
export type Quotas = z.infer<typeof quotasSchema>;

export const quotaUseSchema = z.strictObject({
  runs_per_day: z.int(),
  tokens_per_day: z.int(),
  cost_usd_per_day: z.number(),
});
export type QuotaUse = z.infer<typeof quotaUseSchema>;
