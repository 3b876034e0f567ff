import type { KeyLimits } from '@holdpoint/contract/wire';
import { z } from 'zod';

/** The limits of keys without limits of their own, and of all keys of a tenant together. Null: unlimited. */
export interface CallerLimits {
  key: KeyLimits;
  /** Only requests of rate-limited keys count. */
  tenant: Pick<KeyLimits, 'requests_per_s' | 'burst'>;
  /** Active runs permitted to a tenant at the same time. */
  activeRuns: number | undefined;
}

const count = (most: number, otherwise: number) =>
  z
    .string()
    .regex(/^(\d{1,7}|unlimited)$/, 'expected a whole number, or unlimited')
    .transform((text) => (text === 'unlimited' ? null : Number(text)))
    .pipe(z.int().min(1).max(most).nullable())
    .default(otherwise);

const settingsSchema = z.object({
  HOLDPOINT_KEY_RATE: count(100_000, 50),
  HOLDPOINT_KEY_BURST: count(1_000_000, 200),
  HOLDPOINT_KEY_STREAMS: count(10_000, 50),
  HOLDPOINT_TENANT_RATE: count(100_000, 200),
  HOLDPOINT_TENANT_BURST: count(1_000_000, 1000),
  HOLDPOINT_TENANT_RUNS: count(1_000_000, 1000),
});

/** @throws an error naming the variable, and the faulty part of its value */
export function callerLimitsFrom(env: Readonly<Record<string, string | undefined>>): CallerLimits {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  }
  const { data } = parsed;
  return {
    key: {
      requests_per_s: data.HOLDPOINT_KEY_RATE,
      burst: data.HOLDPOINT_KEY_BURST,
      streams: data.HOLDPOINT_KEY_STREAMS,
    },
    tenant: { requests_per_s: data.HOLDPOINT_TENANT_RATE, burst: data.HOLDPOINT_TENANT_BURST },
    activeRuns: data.HOLDPOINT_TENANT_RUNS ?? undefined,
  };
}
