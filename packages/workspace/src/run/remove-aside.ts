import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Deps, errnoOf } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from './create-run-folder.ts';

/**
 * Removes a folder that other processes may look at: it is taken from its name first, so that it is whole or gone. Does nothing when another
 * process was faster.
 * @param kind what the folder is, for the name that it gets
 */
export async function removeAside(deps: Deps, path: string, kind: string): Promise<void> {
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
