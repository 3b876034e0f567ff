import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../errors.ts';

/** The folder of all pools: `<tenant>/<source>/<kind>/<entry>`. */
export const sourcesFolder = (dataDir: string): string => join(dataDir, 'sources');

/** The content of a source's folder: the objects of its trees, and of the commits before a commit. */
export const entryKinds = ['trees', 'histories'] as const;

export const entryFile = (entry: string): string => join(entry, 'entry.json');

/** Milliseconds since 1970. */
export const usedAt = (entry: string): number => statSync(entryFile(entry), { throwIfNoEntry: false })?.mtimeMs ?? 0;

export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
