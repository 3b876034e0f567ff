import type { KeyRecord } from '@holdpoint/callers';
import type { Key } from '@holdpoint/contract/wire';
import type { ApiDeps } from '../../deps.ts';

/** The API's view of a key. */
export function toKey({ callers }: Pick<ApiDeps, 'callers'>, record: KeyRecord): Key {
  const { isFirst: _, ...shown } = record;
  return { ...shown, limits: callers.limitsOf(record) };
}
