import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { removeFolder } from '../../files/index.ts';
import { temporaryPath } from '../../run-folder/index.ts';
import type { Kind } from './kind.ts';

interface Removal {
  /** Asked once the entry has lost its name: a user of the entry since the last look gets the entry back. @default no user */
  isUsed?: () => Promise<boolean>;
}

/**
 * Removes an entry, or a group of entries, in view of other processes: the folder loses its name first, so another process finds a whole
 * folder or none. Hard links of its files stay. Does nothing when another process was faster.
 */
export async function removeEntry(
  deps: { dataDir: string },
  kind: Pick<Kind, 'name'>,
  path: string,
  { isUsed = async () => false }: Removal = {},
): Promise<void> {
  const aside = temporaryPath(deps, kind.name);
  mkdirSync(dirname(aside), { recursive: true, mode: 0o700 });
  if (!moved(path, aside, ['ENOENT'])) return;
  // A process without the entry may have placed another one: then its user finds the difference.
  if ((await isUsed()) && moved(aside, path, ['ENOTEMPTY', 'EEXIST'])) return;
  await removeFolder(aside);
}

function moved(from: string, to: string, expected: readonly string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!expected.includes(errnoOf(error) ?? '')) throw error;
    return false;
  }
}
