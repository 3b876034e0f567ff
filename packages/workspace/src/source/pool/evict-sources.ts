import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../../deps.ts';
import { removeAside } from '../../run-folder/index.ts';
import { entryKinds, namesIn, sourcesFolder, usedAt } from './entry.ts';

/** Entries of the same kind kept per source: its latest states. */
const mostOfSource = 4;

/** Removes the older states of a source. */
export async function evictSource(deps: Deps, source: string): Promise<void> {
  for (const kind of entryKinds) {
    const entries = namesIn(join(source, kind)).map((name) => join(source, kind, name));
    const newest = entries.toSorted((a, b) => usedAt(b) - usedAt(a));
    for (const entry of newest.slice(mostOfSource)) await removeSourceEntry(deps, entry);
  }
}

/** Removes the least recently used entries until the rest fit, and the entries unused for `limits.trashMs`. */
export async function evictSources(deps: Deps): Promise<void> {
  const kept = listEntries(deps.dataDir).toSorted((a, b) => b.usedAt - a.usedAt);
  let total = 0;
  for (const { entry, bytes, usedAt: used } of kept) {
    total += bytes;
    if (total > deps.limits.poolBytes || deps.now() - used > deps.limits.trashMs) await removeSourceEntry(deps, entry);
  }
  for (const source of sourcesIn(deps.dataDir)) {
    if (entryKinds.every((kind) => namesIn(join(source, kind)).length === 0)) await removeSourceEntry(deps, source);
  }
}

/** A run linking the entry's packs at this moment has them, or makes its own. */
const removeSourceEntry = (deps: Deps, entry: string): Promise<void> => removeAside(deps, entry, 'source');

function listEntries(dataDir: string) {
  return sourcesIn(dataDir).flatMap((source) =>
    entryKinds.flatMap((kind) =>
      namesIn(join(source, kind)).map((name) => {
        const entry = join(source, kind, name);
        const sizes = namesIn(entry).map((file) => statSync(join(entry, file), { throwIfNoEntry: false })?.size ?? 0);
        return { entry, bytes: sizes.reduce((sum, size) => sum + size, 0), usedAt: usedAt(entry) };
      }),
    ),
  );
}

function sourcesIn(dataDir: string): string[] {
  const top = sourcesFolder(dataDir);
  return namesIn(top).flatMap((tenant) => namesIn(join(top, tenant)).map((key) => join(top, tenant, key)));
}
