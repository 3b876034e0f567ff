import { defaultTenant, personsKey, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { firstKey, prefix, recordKey } from './keys.ts';
import { parseStored, type Stored } from './record.ts';

interface Name {
  tenant: Tenant;
  name: string;
}

/** Called before a key is in force: no request has a name without its person. A name held by several persons belongs to all of them. */
export async function recordPerson(redis: Redis, { tenant, name }: Name, person: string): Promise<void> {
  await redis.sadd(personsKey(tenant, name), person);
}

/** The person of a key, by its name; several persons are written as a single value. */
export async function personOf(redis: Redis, { tenant, name }: Name): Promise<string> {
  const persons = await redis.smembers(personsKey(tenant, name));
  return persons.length === 0 ? name : persons.sort().join(' + ');
}

/**
 * Records the persons of keys from an earlier version: keys made by the operator's key are persons, and other keys belong to their makers.
 * Once.
 */
export async function recordOlderPersons(redis: Redis): Promise<void> {
  if ((await redis.get(doneKey)) !== null) return;
  const first = await redis.get(firstKey);
  const keys = (await storedKeys(redis)).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const persons = new Map<string, string>();
  for (const { id, tenant, name, created_by, person } of keys) {
    const maker = persons.get(`${tenant} ${created_by}`) ?? persons.get(`${defaultTenant} ${created_by}`);
    const isRoot = id === first || created_by === rootName || created_by === 'the key file';
    const own = person ?? (isRoot ? name : (maker ?? created_by));
    persons.set(`${tenant} ${name}`, own);
    await recordPerson(redis, { tenant, name }, own);
  }
  await redis.set(doneKey, '1');
}

const doneKey = `${prefix}persons:recorded`;
/** The name of the key in the key file. */
export const rootName = 'admin';

async function storedKeys(redis: Redis): Promise<Stored[]> {
  const found: Stored[] = [];
  for (let cursor = '0'; ; ) {
    const [next, names] = await redis.scan(cursor, 'MATCH', recordKey('*'), 'COUNT', 1000);
    for (const name of names) {
      const text = await redis.hget(name, 'record');
      const stored = text === null ? undefined : readable(text);
      if (stored !== undefined) found.push(stored);
    }
    if (next === '0') return found;
    cursor = next;
  }
}

/** A damaged key is in force nowhere. */
function readable(text: string): Stored | undefined {
  try {
    return parseStored(text);
  } catch {
    return undefined;
  }
}
