import { defaultTenant, personsKey } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { Panel, RunState } from '../domain/index.ts';

/** The persons who have held keys with these names in the tenant of a run. */
export async function readPersons(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = defaultTenant }: Pick<RunState, 'tenant'>,
  names: readonly string[],
): Promise<NonNullable<Panel['persons']>> {
  const wanted = [...new Set(names)];
  const found = await Promise.all(wanted.map((name) => redis.smembers(personsKey(tenant, name))));
  return new Map(wanted.flatMap((name, at) => (found[at]?.length ? [[name, found[at]] as const] : [])));
}
