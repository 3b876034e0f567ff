import type { Deps } from '../deps.ts';
import { evictEntries, measureEntries, removeEntry } from '../store/keyed/index.ts';
import { preparedKind } from './entry.ts';

/** Removes the least recently used entries, until the rest fit. */
export const evictPrepared = (deps: Deps): Promise<void> =>
  evictEntries(deps, preparedKind, { bytes: deps.limits.preparedBytes });

/** A run linking its objects at this moment has them. */
export const removePrepared = (deps: Deps, entry: string): Promise<void> => removeEntry(deps, preparedKind, entry);

/** The kept amount, and the permitted amount. */
export async function measurePrepared(deps: Deps): Promise<{ entries: number; bytes: number; most: number }> {
  return { ...(await measureEntries(deps.dataDir, preparedKind)), most: deps.limits.preparedBytes };
}
