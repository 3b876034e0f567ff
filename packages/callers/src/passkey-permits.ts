import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Tenant, tenantSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { CallerError } from './errors.ts';
import { digestOf } from './key-text.ts';
import { permitKey } from './keys.ts';
import type { Holder } from './record.ts';
import { scriptOf } from './script.ts';

const store = scriptOf('challenge-store');

/** A permit is used within an hour. */
export const permitMs = 3_600_000;

const permitSchema = z.object({ digest: z.string(), tenant: tenantSchema, person: z.string() });

interface Permitted {
  tenant: Tenant;
  person: string;
}

/**
 * A code with which a person adds a passkey without having one. Only the key in the key file makes it, and never a session: a thief
 * with a stolen key or session could otherwise add a passkey, and release calls as this person.
 * @throws CallerError `key_required`, `key_not_allowed`
 */
export async function createPermit(
  redis: Redis,
  { isFirst, session, caller }: Holder,
  { tenant, person }: Permitted,
): Promise<{ code: string; expires_at: string }> {
  if (session !== undefined) throw new CallerError('key_required', 'a session permits no passkeys');
  if (!isFirst) {
    const detail = `only the key in the key file permits passkeys, and ${caller.name} has another key`;
    throw new CallerError('key_not_allowed', detail);
  }
  const code = `hpp_${randomBytes(32).toString('base64url')}`;
  const digest = digestOf(code);
  const until = await store(redis, [permitKey(digest)], [JSON.stringify({ digest, tenant, person }), permitMs]);
  return { code, expires_at: new Date(Number(until)).toISOString() };
}

/** @returns the digest of the code, which stays valid until a passkey is added @throws CallerError `permit_refused` */
export async function checkPermit(redis: Redis, code: string, { tenant, person }: Permitted): Promise<string> {
  const digest = digestOf(code);
  const text = /^hpp_[\w-]{43}$/.test(code) ? await redis.get(permitKey(digest)) : null;
  const found = text === null ? undefined : permitSchema.parse(JSON.parse(text.slice(text.indexOf(' '))));
  const isSame =
    found !== undefined &&
    timingSafeEqual(Buffer.from(found.digest), Buffer.from(digest)) &&
    found.tenant === tenant &&
    found.person === person;
  if (!isSame)
    throw new CallerError('permit_refused', `this code is not of ${person}, was used, or is older than an hour`);
  return digest;
}
