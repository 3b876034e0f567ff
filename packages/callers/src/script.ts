import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { keyIndex, nameKey, pointerKey, recordKey } from './keys.ts';
import type { Stored } from './record.ts';

type ScriptName =
  | 'check'
  | 'store'
  | 'rotate'
  | 'revoke'
  | 'stream'
  | 'session-open'
  | 'session-check'
  | 'sign-in'
  | 'sign-in-claim'
  | 'sign-in-refresh'
  | 'sign-in-logout'
  | 'code-store'
  | 'code-take'
  | 'challenge-store'
  | 'passkey-use'
  | 'passkey-add';

/** Runs a Lua script of this package: EVALSHA; then EVAL once if a new or restarted server does not know the script. */
export function scriptOf(name: ScriptName) {
  const source = readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
  const sha = createHash('sha1').update(source).digest('hex');
  return async (redis: Redis, keys: string[], args: (string | number)[]): Promise<unknown> => {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(source, keys.length, ...keys, ...args);
    }
  };
}

const store = scriptOf('store');

/**
 * Stores a key, with the digest of its text, unless another key in force has its name. A key of the same id is replaced.
 * @returns the id of the present key with the name
 */
export async function storeKey(redis: Redis, stored: Stored, digest: string): Promise<unknown> {
  const { id, tenant, name, limits, expires_at } = stored;
  const keys = [nameKey(tenant, name), recordKey(id), pointerKey(digest), keyIndex(tenant)];
  // The fields for the script of a check, because the script parses no JSON.
  const fields = {
    tenant,
    expires: expires_at === null ? undefined : Date.parse(expires_at),
    rate: limits.requests_per_s === null ? 0 : limits.requests_per_s,
    burst: limits.burst === null ? 0 : limits.burst,
  };
  const given = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field, value]));
  return store(redis, keys, [id, digest, 'record', JSON.stringify(stored), ...given]);
}
