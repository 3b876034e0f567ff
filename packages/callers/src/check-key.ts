import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Redis } from 'ioredis';
import { CallerError, RateError } from './errors.ts';
import { pointerKey, prefix, recordKey, usedKey } from './keys.ts';
import type { CallerLimits } from './limits.ts';
import { effectiveLimits, type Holder, parseStored, type Stored, scopesOf } from './record.ts';
import { scriptOf } from './script.ts';

/**
 * The text of a new key: `hp_`, a secret of 256 random bits, and a checksum, in base64url. The prefix lets scanners find a leaked key, and
 * the checksum separates a mistyped key from an unknown key.
 */
export function createKeyText(): string {
  const secret = randomBytes(32).toString('base64url');
  return `hp_${secret}${checksumOf(secret)}`;
}

/** Keys of the first versions have no checksum. */
const form = /^hp_([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})?$/;

/** False for a text no server ever made: cut, changed in a character, or not a key. */
export function hasKeyForm(text: string): boolean {
  const [, secret, checksum] = form.exec(text) ?? [];
  return secret !== undefined && (checksum === undefined || checksum === checksumOf(secret));
}

function checksumOf(secret: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(secret));
  return bytes.toString('base64url');
}

/**
 * Stored in place of a key. A fast hash is enough: 256 random bits cannot be guessed, so a slow hash would protect nothing and cost every
 * request.
 */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const check = scriptOf('check');

interface CheckDeps {
  redis: Redis;
  limits: CallerLimits;
}

/** An accepted request. */
export interface Admission {
  holder: Holder;
  /** How much of its rate the key has left; undefined without a rate. */
  rate: { limit: number; burst: number; remaining: number; resetMs: number } | undefined;
}

/**
 * Finds the holder of a key, and takes a request from the rates of the key and of its tenant. A single round trip to Redis and no cache: a
 * revoked key is refused everywhere from the moment of the revocation, and all API processes count together.
 * @throws CallerError `unauthorized`; RateError; the errors of Redis, because no request passes unchecked
 */
export async function checkKey(deps: CheckDeps, text: string): Promise<Admission> {
  if (!hasKeyForm(text)) throw refused('this is no key: it is cut, mistyped, or something else');
  return checkDigest(deps, digestOf(text));
}

/** The same for a session, which has the digest of its key. */
export async function checkDigest({ redis, limits }: CheckDeps, digest: string): Promise<Admission> {
  const rates = [limits.key.requests_per_s, limits.key.burst, limits.tenant.requests_per_s, limits.tenant.burst];
  const reply = await check(redis, [pointerKey(digest), usedKey], [prefix, ...rates.map((rate) => rate ?? 0)]);
  const [state, found = '', record = '', ...rest] = reply as string[];
  if (state === 'revoked') throw refused('this key was revoked');
  if (state === 'expired') throw refused(`this key expired at ${new Date(Number(found)).toISOString()}`);
  // The first half found the record, the second half decides: the time of a look-up depends on no part of the second half.
  const isSame = found.length === digest.length && timingSafeEqual(Buffer.from(found), Buffer.from(digest));
  if (state === 'unknown' || !isSame) throw refused('this key is not known here');
  if (state === 'limited') {
    const [of, waitMs] = rest;
    throw new RateError({ of: of === 'tenant' ? 'tenant' : 'key', waitMs: Number(waitMs) });
  }
  const [limit, burst, remaining, resetMs] = rest.map(Number);
  return {
    holder: toHolder(parseStored(record), digest, limits),
    rate:
      limit === undefined ? undefined : { limit, burst: burst ?? 0, remaining: remaining ?? 0, resetMs: resetMs ?? 0 },
  };
}

/** The holder of a key in force, outside of a request: takes nothing from its rate. Undefined: the key has ended. */
export async function readHolder(
  { redis, limits, now }: CheckDeps & { now: () => number },
  digest: string,
): Promise<Holder | undefined> {
  const [id = '', found] = (await redis.get(pointerKey(digest)))?.split(' ') ?? [];
  if (found !== digest) return undefined;
  const [record, expires, revoked] = await redis.hmget(recordKey(id), 'record', 'expires', 'revoked_at');
  if (record == null || revoked != null || (expires != null && Number(expires) <= now())) return undefined;
  return toHolder(parseStored(record), digest, limits);
}

/** The same by the id of the key, which stays when the key gets another text. */
export async function readHolderById(
  { redis, limits, now }: CheckDeps & { now: () => number },
  id: string,
): Promise<Holder | undefined> {
  const digest = await redis.hget(recordKey(id), 'digest');
  return digest === null ? undefined : readHolder({ redis, limits, now }, digest);
}

const refused = (why: string): CallerError => new CallerError('unauthorized', why);

const toHolder = (stored: Stored, digest: string, limits: CallerLimits): Holder => ({
  caller: { name: stored.name, kind: stored.kind, tenant: stored.tenant },
  keyId: stored.id,
  isFirst: stored.scopes === 'all',
  digest,
  scopes: scopesOf(stored),
  limits: effectiveLimits(stored, limits),
  expiresAt: stored.expires_at,
});
