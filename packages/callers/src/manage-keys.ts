import { type CallerKind, defaultTenant, type Scope, type Tenant, whyNeverHeld } from '@holdpoint/contract';
import type { KeyLimits, PointerError } from '@holdpoint/contract/wire';
import type { Redis } from 'ioredis';
import { ZodError } from 'zod';
import { createKeyText, digestOf } from './check-key.ts';
import { CallerError } from './errors.ts';
import { changedChannel, keyIndex, nameKey, pointerKey, prefix, recordKey, usedKey } from './keys.ts';
import type { CallerLimits } from './limits.ts';
import { personOf, recordPerson } from './persons.ts';
import { effectiveLimits, type Holder, type KeyRecord, parseRecord } from './record.ts';
import { scriptOf, storeKey } from './script.ts';

/** The powers given by the text of a key. */
interface Powers {
  kind: CallerKind;
  tenant: Tenant;
  scopes: readonly Scope[];
  limits: KeyLimits;
  expires_at: string | null;
}

/** Whether a caller sees the keys of a tenant: its own tenant, or all tenants for the operator's caller. */
const seesTenant = ({ caller }: Pick<Holder, 'caller'>, tenant: Tenant): boolean =>
  caller.tenant === tenant || caller.tenant === defaultTenant;

/**
 * A caller gives no more than its own key has. Otherwise keys:admin alone could create a key with every scope, or take over another key by
 * rotation. The pointers fit the request to create a key.
 * @throws CallerError `key_not_allowed`
 */
function assertHolds(holder: Holder, asked: Powers): void {
  const errors = refusals(holder, asked);
  const [first] = errors;
  if (first !== undefined) throw new CallerError('key_not_allowed', first.detail, errors);
}

/** Refuses scopes out of reach for any key of this kind and tenant. @throws CallerError `invalid_key` */
function assertHoldable(asked: Pick<Powers, 'kind' | 'tenant' | 'scopes'>): void {
  const errors = asked.scopes.flatMap((scope, index) => {
    const detail = whyNeverHeld(asked, scope);
    return detail === undefined ? [] : [{ pointer: `/scopes/${index}`, detail }];
  });
  const [first] = errors;
  if (first !== undefined) throw new CallerError('invalid_key', first.detail, errors);
}

function refusals({ caller, scopes, limits, expiresAt }: Holder, asked: Powers): PointerError[] {
  const errors: PointerError[] = [];
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail });
  if (!seesTenant({ caller }, asked.tenant)) refuse('/tenant', `${caller.name} may not manage keys of another tenant`);
  if (caller.kind === 'agent' && asked.kind !== 'agent') refuse('/kind', 'an agent manages keys of agents only');
  for (const [index, scope] of asked.scopes.entries()) {
    if (!scopes.includes(scope)) refuse(`/scopes/${index}`, `${caller.name} does not have the scope ${scope} itself`);
  }
  for (const field of ['requests_per_s', 'burst', 'streams'] as const) {
    const [own, wanted] = [limits[field], asked.limits[field]];
    if (own === null || (wanted !== null && wanted <= own)) continue;
    refuse(`/limits/${field}`, `${wanted ?? 'unlimited'} is more than the ${own} of ${caller.name}`);
  }
  if (expiresAt !== null && (asked.expires_at === null || Date.parse(asked.expires_at) > Date.parse(expiresAt))) {
    refuse('/expires_at', `the key of ${caller.name} itself expires at ${expiresAt}`);
  }
  return errors;
}

export interface KeyDeps {
  redis: Redis;
  limits: CallerLimits;
  newId: () => string;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export interface KeyRequest {
  name: string;
  kind: CallerKind;
  scopes: readonly Scope[];
  tenant?: Tenant | undefined;
  expires_at?: string | undefined;
  limits?: Partial<KeyLimits> | undefined;
  /** @default the person of the holder; for the key in the key file: a new person, with the name of the key */
  person?: string | undefined;
}

/** @throws CallerError `invalid_key`, `key_not_allowed`, `key_name_taken`; nothing is stored then */
export async function createKey(
  deps: KeyDeps,
  holder: Holder,
  { name, kind, scopes, tenant = holder.caller.tenant, expires_at, limits = {}, person: asked_for }: KeyRequest,
): Promise<{ record: KeyRecord; text: string }> {
  const expires = expires_at === undefined ? null : new Date(expires_at).toISOString();
  if (expires !== null && Date.parse(expires) <= deps.now()) {
    const detail = `${expires} is past`;
    throw new CallerError('invalid_key', detail, [{ pointer: '/expires_at', detail }]);
  }
  const asked = { kind, tenant, scopes, limits: effectiveLimits({ limits }, deps.limits), expires_at: expires };
  assertHoldable(asked);
  assertHolds(holder, asked);
  const person = await personOfNew(deps, holder, { name, person: asked_for });
  const text = createKeyText();
  const id = deps.newId();
  const stored = {
    ...{ id, name, kind, tenant, scopes: [...new Set(scopes)], limits, expires_at: expires },
    created_at: new Date(deps.now()).toISOString(),
    created_by: holder.caller.name,
    person,
  };
  await recordPerson(deps.redis, stored, person);
  if ((await storeKey(deps.redis, stored, digestOf(text))) !== id) {
    const detail = `a key in force of the tenant ${tenant} has the name ${name}`;
    throw new CallerError('key_name_taken', detail, [{ pointer: '/name', detail }]);
  }
  return { record: await getKey(deps, holder, id), text };
}

/** A key made by a person belongs to the same person: otherwise a person could vote twice. @throws CallerError `key_not_allowed` */
async function personOfNew(
  { redis }: Pick<KeyDeps, 'redis'>,
  holder: Holder,
  { name, person }: Pick<KeyRequest, 'name' | 'person'>,
): Promise<string> {
  if (holder.isFirst) return person ?? name;
  const own = await personOf(redis, holder.caller);
  if (person === undefined || person === own) return own;
  const detail = `keys that ${holder.caller.name} creates belong to ${own}; only the key in the key file makes keys of other persons`;
  throw new CallerError('key_not_allowed', detail, [{ pointer: '/person', detail }]);
}

/** @throws CallerError `key_not_found`, also for a key of a tenant invisible to the holder */
export async function getKey(deps: Pick<KeyDeps, 'redis'>, holder: Holder, id: string): Promise<KeyRecord> {
  const record = await readKey(deps, id);
  if (record && seesTenant(holder, record.tenant)) return record;
  throw new CallerError('key_not_found', `there is no key ${id}`);
}

async function readKey({ redis }: Pick<KeyDeps, 'redis'>, id: string): Promise<KeyRecord | undefined> {
  const [fields, used] = await Promise.all([redis.hgetall(recordKey(id)), redis.hget(usedKey, id)]);
  const record = parseRecord(fields, used);
  return record && { ...record, person: await personOf(redis, record) };
}

/** A key whose record cannot be read. */
interface DamagedKey {
  id: string;
  error: unknown;
}

/** Keys of a tenant, newest first. @param page.cursor the last id of the page before */
export async function listKeys(
  deps: Pick<KeyDeps, 'redis'>,
  holder: Holder,
  {
    tenant = holder.caller.tenant,
    limit,
    cursor,
  }: { tenant?: Tenant | undefined; limit: number; cursor?: string | undefined },
): Promise<{ items: KeyRecord[]; damaged: DamagedKey[]; next: string | null }> {
  if (!seesTenant(holder, tenant)) return { items: [], damaged: [], next: null };
  const before = cursor === undefined ? '+' : `(${cursor}`;
  const ids = await deps.redis.zrevrangebylex(keyIndex(tenant), before, '-', 'LIMIT', 0, limit + 1);
  const damaged: DamagedKey[] = [];
  const records = await Promise.all(
    ids.slice(0, limit).map((id) =>
      readKey(deps, id).catch((error: unknown) => {
        // An error of Redis concerns every key.
        if (!(error instanceof SyntaxError || error instanceof ZodError)) throw error;
        damaged.push({ id, error });
      }),
    ),
  );
  return {
    items: records.filter((record) => record !== undefined),
    damaged,
    next: ids.length > limit ? (ids[limit - 1] ?? null) : null,
  };
}

const rotate = scriptOf('rotate');
const revoke = scriptOf('revoke');

/**
 * Gives a key another text. The text before is valid for `graceS` seconds more.
 * @throws CallerError `key_not_found`, `key_not_allowed`, `key_in_file`, `key_revoked`, `key_changed`
 */
export async function rotateKey(
  deps: KeyDeps,
  holder: Holder,
  { id, graceS }: { id: string; graceS: number },
): Promise<{ record: KeyRecord; text: string }> {
  const record = await manageable(deps, holder, id);
  if (record.isFirst) throw new CallerError('key_in_file', `the key ${id} is the key in the key file of the server`);
  if (record.sign_in !== undefined) {
    throw new CallerError(
      'key_of_sign_in',
      `the key ${id} has no text: ${record.name} signs in with the identity provider`,
    );
  }
  // The rotating caller has the new text: from now on the key belongs to this person, too.
  if (!holder.isFirst && id !== holder.keyId) {
    await recordPerson(deps.redis, record, await personOf(deps.redis, holder.caller));
  }
  const text = createKeyText();
  const digest = digestOf(text);
  const known = (await deps.redis.hget(recordKey(id), 'digest')) ?? '';
  const keys = [recordKey(id), pointerKey(digest), changedChannel(id)];
  const state = await rotate(deps.redis, keys, [prefix, id, known, digest, graceS]);
  if (state === 'gone') throw new CallerError('key_not_found', `there is no key ${id}`);
  if (state === 'revoked') throw new CallerError('key_revoked', `the key ${id} was revoked`);
  if (state === 'changed') throw new CallerError('key_changed', `the key ${id} has just been rotated`);
  return { record: await getKey(deps, holder, id), text };
}

/**
 * Revokes a key: after the return no process accepts the key. No-op for a revoked key.
 * @throws CallerError `key_not_found`, `key_not_allowed`
 */
export async function revokeKey(deps: KeyDeps, holder: Holder, id: string): Promise<KeyRecord> {
  const { tenant, name } = await manageable(deps, holder, id);
  await revoke(deps.redis, [recordKey(id), nameKey(tenant, name), changedChannel(id)], [prefix, id]);
  return getKey(deps, holder, id);
}

async function manageable(deps: KeyDeps, holder: Holder, id: string): Promise<KeyRecord> {
  const record = await getKey(deps, holder, id);
  // A key may always revoke and rotate its own text.
  if (id !== holder.keyId) assertHolds(holder, { ...record, limits: effectiveLimits(record, deps.limits) });
  return record;
}
