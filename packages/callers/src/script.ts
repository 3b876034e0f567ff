import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

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
