import { randomUUID } from 'node:crypto';
import { defaultTenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Admission, checkDigest, checkKey, digestOf, readHolder, readHolderById } from './check-key.ts';
import { claimDueSessions, confirmSession, endByProvider, endSessionsOf } from './confirm-sessions.ts';
import { CallerError } from './errors.ts';
import { firstKey, nameKey, pointerKey, recordKey, sessionKey, streamsKey } from './keys.ts';
import { createKey, getKey, type KeyDeps, type KeyRequest, listKeys, revokeKey, rotateKey } from './manage-keys.ts';
import * as passkeys from './passkeys.ts';
import { personOf, recordOlderPersons, recordPerson, rootName } from './persons.ts';
import { effectiveLimits, type Holder, type KeyRecord, parseStored } from './record.ts';
import { scriptOf, storeKey } from './script.ts';
import * as sessions from './sessions.ts';
import { signIn, takeOnce } from './sign-in.ts';

/**
 * Makes sure of a record for the key in the key file: `admin`, a person of the tenant `default` with every scope and no limit, so the
 * operator can always act. A new text in the file replaces the text before, and is valid even when the text before was revoked.
 */
async function recordFirstKey(deps: Pick<KeyDeps, 'redis' | 'newId' | 'now'>, text: string): Promise<void> {
  const { redis } = deps;
  const digest = digestOf(text);
  // Processes with a simultaneous start agree on the same id.
  await redis.set(firstKey, deps.newId(), 'NX');
  const id = (await redis.get(firstKey)) ?? '';
  const [known, record, revoked] = await redis.hmget(recordKey(id), 'digest', 'record', 'revoked_at');
  if (known === digest && record != null) return;
  if (known != null) await redis.del(pointerKey(known));
  const before = record == null ? undefined : parseStored(record);
  if (revoked != null || before === undefined) await redis.del(nameKey(defaultTenant, name));
  const created_at = before?.created_at ?? new Date(deps.now()).toISOString();
  const limits = { requests_per_s: null, burst: null, streams: null };
  const stored = {
    id,
    name,
    kind: 'person',
    tenant: defaultTenant,
    scopes: 'all',
    limits,
    created_at,
    person: name,
  } as const;
  await recordPerson(redis, { tenant: defaultTenant, name }, name);
  await storeKey(redis, { ...stored, created_by: 'the key file', expires_at: null }, digest);
}

const name = rootName;

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
async function openStream(redis: Redis, { keyId, digest, limits, session, scopes }: Holder): Promise<OpenStream> {
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

/** Who may call the API, and how much. @param deps.firstKey the text in the key file */
export async function openCallers({ firstKey, ...deps }: KeyDeps & { firstKey: string }) {
  await recordFirstKey(deps, firstKey);
  await recordOlderPersons(deps.redis);
  const firstDigest = digestOf(firstKey);
  /** Redis may have lost the record of the first key with its last second. A revoked key stays revoked. */
  const recorded = async (digest: string, admit: () => Promise<Admission>): Promise<Admission> => {
    try {
      return await admit();
    } catch (error) {
      if (!(error instanceof CallerError) || digest !== firstDigest) throw error;
      await recordFirstKey(deps, firstKey);
      return admit();
    }
  };
  const checkSession = async (token: string, kind: 'hps' | 'hpl'): Promise<Admission> => {
    const { id, key } = await sessions.findSession(deps.redis, token, kind);
    const { holder, rate } = await recorded(key, () => checkDigest(deps, key));
    return { holder: { ...holder, session: id }, rate };
  };
  return {
    /** The holder of a key, or of a login of the command. */
    check: (text: string) =>
      sessions.isCommandToken(text) ? checkSession(text, 'hpl') : recorded(digestOf(text), () => checkKey(deps, text)),
    /** The holder of a browser's session, with the rights that its key has now. */
    checkSession: (token: string) => checkSession(token, 'hps'),
    /** Sign-ins of persons with an identity provider. */
    signIns: {
      open: on(deps, signIn),
      takeOnce: on(deps.redis, takeOnce),
      claimDue: () => claimDueSessions(deps),
      confirm: on(deps, confirmSession),
      end: on(deps.redis, sessions.endSession),
      endAll: on(deps.redis, endSessionsOf),
      endByProvider: on(deps.redis, endByProvider),
    },
    /** The holder of a key by the digest of its text; undefined once the key has ended. */
    holderOf: (digest: string) => readHolder(deps, digest),
    /** The holder of a key by its id; undefined once the key has ended. */
    holderOfKey: (id: string) => readHolderById(deps, id),
    openSession: (holder: Holder) => sessions.openSession(deps.redis, holder),
    listSessions: (holder: Holder) => sessions.listSessions(deps.redis, holder),
    endSession: (holder: Holder, id: string) => sessions.endSession(deps.redis, holder, id),
    createCode: (holder: Holder) => sessions.createCode(deps.redis, holder),
    /** The holder of the key that made the code. */
    async exchangeCode(code: string): Promise<Admission> {
      const key = await sessions.exchangeCode(deps.redis, code);
      return recorded(key, () => checkDigest(deps, key));
    },
    /** The person that a key belongs to. */
    personOf: ({ caller }: Holder) => personOf(deps.redis, caller),
    passkeys: passkeysIn(deps.redis),
    openStream: (holder: Holder) => openStream(deps.redis, holder),
    create: (holder: Holder, request: KeyRequest) => createKey(deps, holder, request),
    get: (holder: Holder, id: string) => getKey(deps, holder, id),
    list: (holder: Holder, page: Parameters<typeof listKeys>[2]) => listKeys(deps, holder, page),
    rotate: (holder: Holder, request: { id: string; graceS: number }) => rotateKey(deps, holder, request),
    revoke: (holder: Holder, id: string) => revokeKey(deps, holder, id),
    /** The limits of a key as they hold. */
    limitsOf: (record: KeyRecord) => effectiveLimits(record, deps.limits),
  };
}
export type Callers = Awaited<ReturnType<typeof openCallers>>;

/** Binds a function to Redis, or to all that this package works with. */
const on =
  <Deps, Rest extends unknown[], Result>(deps: Deps, act: (deps: Deps, ...rest: Rest) => Result) =>
  (...rest: Rest): Result =>
    act(deps, ...rest);

const passkeysIn = (redis: Redis) => ({
  find: on(redis, passkeys.findPasskey),
  list: on(redis, passkeys.listPasskeys),
  add: on(redis, passkeys.addPasskey),
  remove: on(redis, passkeys.removePasskey),
  openChallenge: on(redis, passkeys.openChallenge),
  readChallenge: on(redis, passkeys.readChallenge),
  use: on(redis, passkeys.usePasskey),
  createPermit: on(redis, passkeys.createPermit),
  checkPermit: on(redis, passkeys.checkPermit),
});
