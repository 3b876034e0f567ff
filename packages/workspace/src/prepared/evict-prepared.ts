import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, unlessMissing } from '../deps.ts';
import { removeAside } from '../run-folder/index.ts';
import { entryFile, preparedFolder } from './entry.ts';

interface Kept {
  folder: string;
  bytes: number;
  usedAt: number;
}

/** Removes the least recently used entries, until the rest fit. */
export async function evictPrepared(deps: Deps): Promise<void> {
  const kept = await listPrepared(deps);
  kept.sort((a, b) => b.usedAt - a.usedAt);
  let total = 0;
  for (const { folder, bytes } of kept) {
    total += bytes;
    if (total > deps.limits.preparedBytes) await removePrepared(deps, folder);
  }
}

/** A run linking its objects at this moment has them. */
export const removePrepared = (deps: Deps, entry: string): Promise<void> => removeAside(deps, entry, 'prepared');

/** The kept amount, and the permitted amount. */
export async function measurePrepared(deps: Deps): Promise<{ entries: number; bytes: number; most: number }> {
  const kept = await listPrepared(deps);
  return {
    entries: kept.length,
    bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
    most: deps.limits.preparedBytes,
  };
}

async function listPrepared({ dataDir }: Pick<Deps, 'dataDir'>): Promise<Kept[]> {
  const top = preparedFolder(dataDir);
  const found: Kept[] = [];
  for (const tenant of await namesIn(top)) {
    for (const key of await namesIn(join(top, tenant))) {
      const folder = join(top, tenant, key);
      const sizes = (await namesIn(folder)).map((name) => sizeOf(join(folder, name)));
      const usedAt = statSync(entryFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      found.push({ folder, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0), usedAt });
    }
  }
  return found;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const namesIn = (path: string): Promise<string[]> => readdir(path).catch(unlessMissing<string[]>([]));
