import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { digestOf } from './check-key.ts';
import { CallerError } from './errors.ts';
import { changedChannel, codeKey, prefix, sessionIndex, sessionKey } from './keys.ts';
import type { Holder } from './record.ts';
import { scriptOf } from './script.ts';

const open = scriptOf('session-open');
const check = scriptOf('session-check');
const storeCode = scriptOf('code-store');
const takeCode = scriptOf('code-take');

const hour = 3_600_000;
/** A session without a request for so long ends. */
export const idleMs = 12 * hour;
/** No session lasts longer, however busy. */
export const longestSessionMs = 7 * 24 * hour;
const codeMs = 60_000;
/** The most sessions of a key at the same time. */
export const mostSessions = 100;

/** A login of a browser, or of the command. Its token is a cookie, or in a file of the person; Redis holds a digest. */
export interface Session {
  id: string;
  /** Undefined: with a key or a link. Otherwise where a person has signed in with the identity provider. */
  signed_in?: 'browser' | 'command';
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

/** The token of a browser's cookie, of a link, of a login of the command. */
type TokenKind = 'hps' | 'hpc' | 'hpl';

const createToken = (kind: TokenKind): string => `${kind}_${randomBytes(32).toString('base64url')}`;
const hasForm = (kind: TokenKind, text: string): boolean => new RegExp(`^${kind}_[A-Za-z0-9_-]{43}$`).test(text);

/** The id names a session in lists. It finds the record, and the other half of the digest proves the token. */
const sessionIdOf = (digest: string): string => `ses_${digest.slice(0, 32)}`;

export function newSession(kind: 'hps' | 'hpl'): { id: string; token: string; digest: string } {
  const token = createToken(kind);
  const digest = digestOf(token);
  return { id: sessionIdOf(digest), token, digest };
}

export const isCommandToken = (text: string): boolean => text.startsWith('hpl_');

/** @param holder with the key itself: the session ends when the text of this key ends */
export async function openSession(
  redis: Redis,
  { digest: key, keyId, session, caller: { name, kind } }: Holder,
): Promise<{ id: string; token: string }> {
  if (session !== undefined) throw new CallerError('key_required', 'a session opens no other session');
  if (kind === 'agent') throw new CallerError('agent_without_session', `${name} is an agent: its key opens no session`);
  const { id, token, digest } = newSession('hps');
  const bounds = [idleMs, longestSessionMs, mostSessions, prefix];
  await open(redis, [sessionKey(id), sessionIndex(keyId)], [id, digest, key, keyId, ...bounds]);
  return { id, token };
}

/** @returns the session's id, and the digest of its key @throws CallerError `session_ended` */
export async function findSession(
  redis: Redis,
  token: string,
  kind: 'hps' | 'hpl',
): Promise<{ id: string; key: string }> {
  if (!hasForm(kind, token)) throw ended();
  const digest = digestOf(token);
  const id = sessionIdOf(digest);
  const [found = '', key = ''] = (await check(redis, [sessionKey(id)], [idleMs, longestSessionMs])) as string[];
  if (!isSame(found, digest)) throw ended();
  return { id, key };
}

const ended = (): CallerError => new CallerError('session_ended', 'this session has ended, or never was');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** The sessions in force of the holder's key, newest first. */
export async function listSessions(redis: Redis, { keyId }: Holder): Promise<Session[]> {
  const ids = await redis.zrevrange(sessionIndex(keyId), 0, -1);
  const records = await Promise.all(ids.map(async (id) => toSession(id, await redis.hgetall(sessionKey(id)))));
  return records.filter((record) => record !== undefined);
}

function toSession(
  id: string,
  { created, seen, device, until: confirmed }: Record<string, string>,
): Session | undefined {
  if (created === undefined || seen === undefined) return undefined;
  const until = Math.min(Number(seen) + idleMs, Number(created) + longestSessionMs, Number(confirmed ?? Infinity));
  const time = (ms: number | string): string => new Date(Number(ms)).toISOString();
  const signed_in = device === 'browser' || device === 'command' ? device : undefined;
  return {
    id,
    created_at: time(created),
    last_used_at: time(seen),
    expires_at: time(until),
    ...(signed_in && { signed_in }),
  };
}

/** Ends a session of the holder's key: no request and no open stream continues with it. @throws CallerError `session_not_found` */
export async function endSession(redis: Redis, { keyId }: Pick<Holder, 'keyId'>, id: string): Promise<void> {
  const isOwn = /^ses_[0-9a-f]{32}$/.test(id) && (await redis.hget(sessionKey(id), 'key_id')) === keyId;
  if (!isOwn) throw new CallerError('session_not_found', `your key has no session ${id}`);
  await redis.multi().del(sessionKey(id)).zrem(sessionIndex(keyId), id).publish(changedChannel(keyId), '').exec();
}

/** A code for a link that logs in once. @throws CallerError `key_required` for a session, which would prolong itself */
export async function createCode(
  redis: Redis,
  { digest: key, session, caller: { name, kind } }: Holder,
): Promise<{ code: string; expires_at: string }> {
  if (session !== undefined) throw new CallerError('key_required', 'a session makes no links that log in');
  if (kind === 'agent') throw new CallerError('agent_without_session', `${name} is an agent: its key makes no link`);
  const code = createToken('hpc');
  const digest = digestOf(code);
  const until = await storeCode(redis, [codeKey(digest)], [digest, key, codeMs]);
  return { code, expires_at: new Date(Number(until)).toISOString() };
}

/** @returns the digest of the key that made the code @throws CallerError `code_refused` */
export async function exchangeCode(redis: Redis, code: string): Promise<string> {
  const digest = digestOf(code);
  const refused = new CallerError('code_refused', 'this link was used before, or is older than a minute');
  if (!hasForm('hpc', code)) throw refused;
  const [found = '', key = ''] = (await takeCode(redis, [codeKey(digest)], [codeMs])) as string[];
  if (!isSame(found, digest)) throw refused;
  return key;
}
