import { randomBytes } from 'node:crypto';
import { type Caller, callerNameSchema, personsKey, type Scope, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { digestOf } from './check-key.ts';
import { CallerError } from './errors.ts';
import * as names from './keys.ts';
import { parseStored, type Stored } from './record.ts';
import { scriptOf } from './script.ts';
import { idleMs, longestSessionMs, mostSessions, newSession } from './sessions.ts';

const open = scriptOf('sign-in');

/** A person as the identity provider describes them, with the rights that their groups have here. */
export interface Identity {
  issuer: string;
  /** Names the person at the issuer for good; names and addresses may change there. */
  subject: string;
  name: string;
  /** @default the name */
  person?: string | undefined;
  tenant: Tenant;
  scopes: readonly Scope[];
}

/** How a session of the identity provider lasts. */
export interface Confirmation {
  /** The sealed refresh token; undefined: the provider gave none, so the session ends after `holdMs`. */
  sealed: string | undefined;
  /** Milliseconds until the provider has to confirm the session. */
  everyMs: number;
  /** Milliseconds that the session lasts when the provider does not answer. */
  holdMs: number;
}

interface SignInDeps {
  redis: Redis;
  newId: () => string;
  now: () => number;
}

interface Opened {
  id: string;
  token: string;
  keyId: string;
  caller: Caller;
}

/**
 * Opens a session of a person, with the rights that their groups give now. The key of the person has no text. It is found by issuer and
 * subject and keeps the name of the first sign-in: another person who takes the name at the provider is another caller, and is refused here.
 * @throws CallerError `sign_in_refused`, `key_name_taken`; nothing is stored then
 */
export async function signIn(
  deps: SignInDeps,
  identity: Identity,
  { device, sid = '', ...confirmation }: Confirmation & { device: Device; sid?: string | undefined },
): Promise<Opened> {
  for (let left = 5; left > 0; left -= 1) {
    const { expected, stored, digest } = await keyFor(deps, identity);
    const { id, token, digest: tokenDigest } = newSession(device === 'browser' ? 'hps' : 'hpl');
    const { issuer, subject } = identity;
    const keys = [
      names.identityKey(issuer, subject, stored.tenant),
      names.recordKey(stored.id),
      names.nameKey(stored.tenant, stored.name),
      names.pointerKey(digest),
      names.keyIndex(stored.tenant),
      personsKey(stored.tenant, stored.name),
      names.sessionKey(id),
      names.sessionIndex(stored.id),
      names.confirmIndex,
      names.subjectKey(issuer, subject),
      names.providerSessionKey(issuer, sid),
      names.endedSidKey(issuer, sid),
      names.changedChannel(stored.id),
    ];
    const answer = await open(deps.redis, keys, [
      ...[names.prefix, expected, stored.id, digest, JSON.stringify(stored), stored.tenant],
      ...[Date.parse(stored.expires_at ?? ''), identity.scopes.join(' '), stored.person ?? stored.name],
      ...[id, tokenDigest, device, confirmation.sealed ?? '', confirmation.everyMs, confirmation.holdMs],
      ...[idleMs, longestSessionMs, mostSessions, sid],
    ]);
    const [state] = answer as string[];
    if (state === 'ok') return { id, token, keyId: stored.id, caller: callerOf(stored) };
    if (state === 'taken') throw taken(stored);
    if (state === 'ended') throw new CallerError('sign_in_refused', 'the identity provider has ended this session');
  }
  throw new CallerError('key_changed', 'other sign-ins of this person changed the key at the same moment');
}

export type Device = 'browser' | 'command';

export const callerOf = ({ name, kind, tenant }: Stored): Caller => ({ name, kind, tenant });

/** The key of the identity as it has to be now; a revoked one has a successor. @throws CallerError `sign_in_refused` */
async function keyFor(
  { redis, newId, now }: SignInDeps,
  identity: Identity,
): Promise<{ expected: string; stored: Stored; digest: string }> {
  const expected = (await redis.get(names.identityKey(identity.issuer, identity.subject, identity.tenant))) ?? '';
  const [record, digest, revoked] = await redis.hmget(names.recordKey(expected), 'record', 'digest', 'revoked_at');
  if (record != null && digest != null && revoked == null) {
    return { expected, stored: confirmed(parseStored(record), identity, now()), digest };
  }
  const name = record == null ? identity.name : parseStored(record).name;
  if (!callerNameSchema.safeParse(name).success) {
    throw new CallerError(
      'sign_in_refused',
      `the identity provider gives the name ${JSON.stringify(name.slice(0, 100))}, which no caller can have`,
    );
  }
  const { issuer, subject, tenant } = identity;
  const made: Stored = {
    ...{ id: newId(), name, kind: 'person', tenant, scopes: [], limits: {}, expires_at: null },
    ...{ created_at: new Date(now()).toISOString(), created_by: name, sign_in: { issuer, subject } },
  };
  // No text has this digest: the key cannot be presented.
  return {
    expected,
    stored: confirmed(made, identity, now()),
    digest: digestOf(randomBytes(32).toString('base64url')),
  };
}

/** A key ends when the provider has confirmed no session for as long as a session may last, and what it submits by the clock ends with it. */
export const confirmed = (
  stored: Stored,
  { scopes, person }: Pick<Identity, 'scopes' | 'person'>,
  now: number,
): Stored => ({
  ...stored,
  scopes: [...scopes],
  person: person ?? stored.person ?? stored.name,
  expires_at: new Date(now + longestSessionMs).toISOString(),
});

function taken({ tenant, name }: Stored): CallerError {
  const detail = `another key in force of the tenant ${tenant} has the name ${name}`;
  return new CallerError('key_name_taken', detail, [{ pointer: '/name', detail }]);
}

/** True for the first call with these parts within the time: of many requests at once a single one gets it, on all processes. */
export const takeOnce = async (redis: Redis, parts: readonly string[], ms: number): Promise<boolean> =>
  (await redis.set(names.onceKey(...parts), '1', 'PX', ms, 'NX')) === 'OK';
