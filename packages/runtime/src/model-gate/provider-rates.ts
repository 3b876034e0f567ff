import { accountProviders } from '@holdpoint/models';
import { z } from 'zod';

const rateSchema = z.strictObject({
  per_minute: z.number().positive().max(1_000_000).optional(),
  at_once: z.int().min(1).max(100_000).optional(),
});

/** The operator's limits on requests of all workers together, by provider. */
export const providerRatesSchema = z.partialRecord(z.enum(accountProviders), rateSchema);
export type ProviderRates = Partial<Record<string, z.infer<typeof rateSchema>>>;
