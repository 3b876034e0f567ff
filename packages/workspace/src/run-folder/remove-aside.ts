import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from './making-folder.ts';

/**
 * Removes a folder in view of other processes: the folder loses its name first, and so is whole or gone. Does nothing when another process was
 * faster.
 * @param kind the kind of the folder, for its new name
 */
export async function removeAside(deps: { dataDir: string }, path: string, kind: string): Promise<void> {
  const aside = temporaryPath(deps, kind);
  mkdirSync(dirname(aside), { recursive: true, mode: 0o700 });
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return;
  }
  await removeFolder(aside);
}
