import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { CallerError } from './errors.ts';
import { pointerKey, recordKey, sessionKey, streamsKey } from './keys.ts';
import type { Holder } from './record.ts';
import { scriptOf } from './script.ts';

const stream = scriptOf('stream');
/** An entry whose process died ends after a minute. */
const lastsMs = 60_000;

/** A counted stream. */
export interface OpenStream {
  /** Call at least every 30 seconds. @returns false when the key is not valid any more: end the stream */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

/** @throws CallerError `too_many_streams`, `unauthorized` */
export async function openStream(
  redis: Redis,
  { keyId, digest, limits, session, scopes }: Holder,
): Promise<OpenStream> {
  const id = randomUUID();
  const own = session === undefined ? [] : [sessionKey(session)];
  const keys = [streamsKey(keyId), pointerKey(digest), recordKey(keyId), ...own];
  const held = scopes.join(' ');
  const say = (what: 'open' | 'renew') => stream(redis, keys, [id, limits.streams ?? 0, lastsMs, what, held]);
  const state = await say('open');
  if (state === 'gone') throw new CallerError('unauthorized', 'this key is not valid any more');
  if (state === 'full') throw new CallerError('too_many_streams', `${limits.streams} streams of this key are open`);
  return {
    renew: async () => (await say('renew')) !== 'gone',
    async close() {
      await redis.zrem(streamsKey(keyId), id);
    },
  };
}
