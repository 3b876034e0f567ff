import { defaultTenant } from '@holdpoint/contract';
import { digestOf } from './key-text.ts';
import { firstKey, nameKey, pointerKey, recordKey } from './keys.ts';
import type { KeyDeps } from './manage-keys.ts';
import { recordPerson, rootName } from './persons.ts';
import { parseStored } from './record.ts';
import { storeKey } from './store-key.ts';

/**
 * Makes sure of a record for the key in the key file: `admin`, a person of the tenant `default` with every scope and no limit, so the
 * operator can always act. A new text in the file replaces the text before, and is valid even when the text before was revoked.
 */
export async function recordFirstKey(deps: Pick<KeyDeps, 'redis' | 'newId' | 'now'>, text: string): Promise<void> {
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
