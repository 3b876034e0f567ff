import { rmdirSync, statSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { removeEntry } from './begin-entry.ts';
import { bytesOf, entriesOf, groupsOf, type KeyedDeps, type Kind, newestIn, usedAt } from './entries.ts';

/** The permitted amount of a kind. Every bound is optional. */
export interface KeyedBounds {
  /** All entries together. */
  readonly bytes?: number | undefined;
  /** Time since the last use. */
  readonly idleMs?: number | undefined;
  /** An entry used within this time stays: a run in the making may be about to use the entry. */
  readonly graceMs?: number | undefined;
  /** @default the bytes of an entry's own files */
  readonly bytesOf?: (entry: string) => number;
  /** Finds the entries used for longer than a moment: they stay, and no bound counts them. @default entries without users */
  readonly findUsed?: () => Promise<(entry: string) => boolean>;
}

/** Removes the least recently used entries until the rest fit, and empty groups. */
export async function evictEntries(deps: KeyedDeps, kind: Kind, bounds: KeyedBounds): Promise<void> {
  const { bytes: most = Number.POSITIVE_INFINITY, idleMs: longest = Number.POSITIVE_INFINITY, graceMs = 0 } = bounds;
  const findUsed = bounds.findUsed ?? (async () => () => false);
  let total = 0;
  for (const { entry, bytes, at } of await unusedEntries(deps, kind, bounds)) {
    total += bytes;
    const idle = deps.now() - at;
    if (idle < graceMs || (total <= most && idle <= longest)) continue;
    await removeEntry(deps, kind, entry, { isUsed: async () => (await findUsed())(entry) });
  }
  for (const group of await groupsOf(deps.dataDir, kind)) removeIfEmpty(deps, group);
}

/** Removes all entries of a group but the most recently used ones. */
export async function evictGroup(deps: KeyedDeps, kind: Kind, { group, most }: { group: string; most: number }) {
  for (const entry of (await newestIn(kind, group)).slice(most)) await removeEntry(deps, kind, entry);
}

/** The kept amount. */
export async function measureEntries(dataDir: string, kind: Kind): Promise<{ entries: number; bytes: number }> {
  const sizes = await Promise.all((await entriesOf(dataDir, kind)).map(bytesOf));
  return { entries: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function unusedEntries({ dataDir }: KeyedDeps, kind: Kind, bounds: KeyedBounds) {
  const isUsed = await bounds.findUsed?.();
  const unused = (await entriesOf(dataDir, kind)).filter((entry) => isUsed?.(entry) !== true);
  const measured = unused.map(async (entry) => {
    const bytes = bounds.bytesOf === undefined ? await bytesOf(entry) : bounds.bytesOf(entry);
    return { entry, bytes, at: usedAt(kind, entry) };
  });
  return (await Promise.all(measured)).sort((a, b) => b.at - a.at);
}

const hour = 3_600_000;

/** A process may be about to place an entry in a young folder. In an old folder it makes the folder again. */
function removeIfEmpty({ now }: KeyedDeps, folder: string): void {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined || now() - made < hour) return;
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
  }
}
