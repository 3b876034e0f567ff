import { randomUUID } from 'node:crypto';
import type { Caller, Scope } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import * as names from './keys.ts';
import { parseStored, type Stored } from './record.ts';
import { scriptOf } from './script.ts';
import { endSession } from './sessions.ts';
import { type Confirmation, callerOf, confirmed } from './sign-in.ts';

const claim = scriptOf('sign-in-claim');
const refresh = scriptOf('sign-in-refresh');
const logOut = scriptOf('sign-in-logout');

/** A claim lasts longer than a request to the provider; a session whose process died is claimed again after it. */
const claimMs = 30_000;
const mostAtOnce = 20;
/** Requests to log out are refused when they are older. */
const rememberMs = 3_600_000;

/** A session that this process has to have confirmed. */
export interface DueSession {
  id: string;
  claim: string;
  keyId: string;
  caller: Caller;
  issuer: string;
  subject: string;
  /** The refresh token. */
  sealed: string;
}

interface Deps {
  redis: Redis;
  now: () => number;
}

/** Claims the sessions that are due. The key of each is in force, or the session ends here. */
export async function claimDueSessions({ redis }: Deps): Promise<DueSession[]> {
  const id = randomUUID();
  const flat = (await claim(redis, [names.confirmIndex], [names.prefix, id, mostAtOnce, claimMs])) as string[];
  const due: DueSession[] = [];
  for (let at = 0; at < flat.length; at += 3) {
    const [session = '', keyId = '', sealed = ''] = flat.slice(at, at + 3);
    const stored = await storedOf(redis, keyId);
    if (stored?.sign_in === undefined) await endSession(redis, { keyId }, session).catch(() => undefined);
    else due.push({ id: session, claim: id, keyId, caller: callerOf(stored), ...stored.sign_in, sealed });
  }
  return due;
}

/** Stores the rights that a claimed session has from now on. @returns false when it has ended, or another process has it */
export async function confirmSession(
  { redis, now }: Deps,
  { id, claim: claimed, keyId }: Pick<DueSession, 'id' | 'claim' | 'keyId'>,
  { sealed, everyMs, holdMs, scopes }: Confirmation & { scopes: readonly Scope[] },
): Promise<boolean> {
  const stored = await storedOf(redis, keyId);
  if (stored === undefined) return false;
  const next = confirmed(stored, { scopes }, now());
  const keys = [names.recordKey(keyId), names.sessionKey(id), names.confirmIndex, names.changedChannel(keyId)];
  const rights = [JSON.stringify(next), `${Date.parse(next.expires_at ?? '')}`, scopes.join(' ')];
  return (await refresh(redis, keys, [id, claimed, sealed ?? '', everyMs, holdMs, ...rights])) === 'ok';
}

/** Ends every session of a key. */
export async function endSessionsOf(redis: Redis, keyId: string): Promise<string[]> {
  const ids = await redis.zrange(names.sessionIndex(keyId), '0', '-1');
  const ended = await Promise.all(
    ids.map((id) =>
      endSession(redis, { keyId }, id).then(
        () => id,
        () => undefined,
      ),
    ),
  );
  return ended.filter((id) => id !== undefined);
}

/** What the provider's request to log out names. */
export interface ProviderLogout {
  issuer: string;
  /** The id of the request. */
  jti: string;
  subject?: string | undefined;
  sid?: string | undefined;
}

/** Ends the sessions that the provider names. @returns undefined when the request came before */
export async function endByProvider(
  redis: Redis,
  { issuer, jti, subject, sid }: ProviderLogout,
): Promise<{ id: string; keyId: string; caller: Caller | undefined }[] | undefined> {
  const keys = [
    names.onceKey('logout', issuer, jti),
    names.subjectKey(issuer, subject ?? ''),
    names.providerSessionKey(issuer, sid ?? ''),
    names.endedSidKey(issuer, sid ?? ''),
    names.confirmIndex,
  ];
  const named = sid === undefined ? 'sub' : subject === undefined ? 'sid' : 'both';
  const [state, ...flat] = (await logOut(redis, keys, [names.prefix, named, rememberMs, rememberMs])) as string[];
  if (state === 'replayed') return undefined;
  const pairs = flat.flatMap((id, at) => (at % 2 === 0 ? [{ id, keyId: flat[at + 1] ?? '' }] : []));
  return Promise.all(
    pairs.map(async (pair) => {
      const stored = await storedOf(redis, pair.keyId);
      return { ...pair, caller: stored && callerOf(stored) };
    }),
  );
}

async function storedOf(redis: Redis, keyId: string): Promise<Stored | undefined> {
  const [record, revoked] = await redis.hmget(names.recordKey(keyId), 'record', 'revoked_at');
  return record == null || revoked != null ? undefined : parseStored(record);
}
