import { basename, dirname } from 'node:path';
import { errnoOf } from './errors.ts';
import { openTop } from './open-directory.ts';
import { removeEntry } from './remove-entry.ts';

/** Removes a folder of the data directory with everything in it, whatever an agent left there. Nothing there is fine. */
export function removeFolder(path: string): void {
  try {
    using parent = openTop(dirname(path));
    removeEntry({ directory: parent, name: basename(path), path: basename(path) });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
