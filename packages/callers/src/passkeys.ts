import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { challengeMs, type Tenant, tenantSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { digestOf } from './check-key.ts';
import { CallerError } from './errors.ts';
import { challengeKey, passkeyIndex, passkeyKey, permitKey } from './keys.ts';
import type { Holder } from './record.ts';
import { scriptOf } from './script.ts';

const store = scriptOf('challenge-store');

/** A permit is used within an hour. */
const permitMs = 3_600_000;

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

const storeChallenge = scriptOf('challenge-store');
const use = scriptOf('passkey-use');
const add = scriptOf('passkey-add');

/** The most passkeys of a person. */
const mostPasskeys = 20;

const storedSchema = z.object({
  id: z.string(),
  tenant: tenantSchema,
  person: z.string(),
  /** What its person calls it. */
  name: z.string(),
  credential_id: z.string(),
  public_key: z.string(),
  transports: z.array(z.string()),
  /** The name of the server that it was made for. */
  rp_id: z.string(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
});
export type StoredPasskey = z.infer<typeof storedSchema>;
export type Passkey = StoredPasskey & { last_used_at: string | null };

const challengeSchema = z.object({
  use: z.enum(['decision', 'registration', 'passkey']),
  nonce: z.string(),
  tenant: tenantSchema,
  person: z.string(),
  by: z.string(),
  rp_id: z.string(),
  origin: z.string(),
  /** The permit of the operator for a registration; without it a present passkey permits. */
  permit: z.string().optional(),
});
/** A question to a browser's passkey, and the caller who gets it. */
export type StoredChallenge = z.infer<typeof challengeSchema>;

export const passkeyIdOf = (credentialId: string): string =>
  `psk_${createHash('sha256').update(credentialId).digest('hex').slice(0, 32)}`;

export async function findPasskey(redis: Redis, id: string): Promise<Passkey | undefined> {
  const [record, used] = await redis.hmget(passkeyKey(id), 'record', 'used');
  if (record == null) return undefined;
  return {
    ...storedSchema.parse(JSON.parse(record)),
    last_used_at: used == null ? null : new Date(Number(used)).toISOString(),
  };
}

/** The passkeys of a person, oldest first. */
export async function listPasskeys(redis: Redis, { tenant, person }: Person): Promise<Passkey[]> {
  const ids = await redis.smembers(passkeyIndex(tenant, person));
  const found = await Promise.all(ids.map((id) => findPasskey(redis, id)));
  return found.filter((one) => one !== undefined).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

interface Person {
  tenant: Tenant;
  person: string;
}

export async function openChallenge(redis: Redis, challenge: string, stored: StoredChallenge): Promise<void> {
  await storeChallenge(redis, [challengeKey(challenge)], [JSON.stringify(stored), challengeMs]);
}

/** Undefined: it was used, is too old, or never was. Reading does not use it. */
export async function readChallenge(redis: Redis, challenge: string): Promise<StoredChallenge | undefined> {
  const text = /^[\w-]{43}$/.test(challenge) ? await redis.get(challengeKey(challenge)) : null;
  return text === null ? undefined : challengeSchema.parse(JSON.parse(text.slice(text.indexOf(' '))));
}

/** Uses a challenge up, and counts the use of the passkey that signed it. */
export const usePasskey = async (
  redis: Redis,
  { challenge, id, counter }: { challenge: string; id: string; counter: number },
): Promise<'used' | 'gone' | 'revoked' | 'counter'> =>
  (await use(redis, [challengeKey(challenge), passkeyKey(id)], [challengeMs, counter])) as 'used';

/** @throws CallerError `challenge_gone`, `permit_refused`, `passkey_taken`, `too_many_passkeys`; nothing is stored then */
export async function addPasskey(
  redis: Redis,
  stored: StoredPasskey,
  { challenge, counter, permit }: { challenge: string; counter: number; permit: string | undefined },
): Promise<void> {
  const { id, tenant, person, name } = stored;
  const open = challengeKey(challenge);
  const keys = [passkeyKey(id), passkeyIndex(tenant, person), open, permit === undefined ? open : permitKey(permit)];
  const answer = await add(redis, keys, [id, JSON.stringify(stored), counter, mostPasskeys, challengeMs, permitMs]);
  switch (answer) {
    case 'added':
      return;
    case 'taken':
      throw new CallerError('passkey_taken', `this passkey (${name}) was added before`);
    case 'full':
      throw new CallerError('too_many_passkeys', `${person} has ${mostPasskeys} passkeys`);
    case 'permit':
      throw new CallerError('permit_refused', 'the code was used before, or is older than an hour');
    default:
      throw new CallerError('challenge_gone', 'the registration was completed before, or is older than five minutes');
  }
}

/** The caller's right to manage the passkeys of this person has been checked. */
export async function removePasskey(redis: Redis, { id, tenant, person }: StoredPasskey): Promise<void> {
  await redis.multi().del(passkeyKey(id)).srem(passkeyIndex(tenant, person), id).exec();
}
