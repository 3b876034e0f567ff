import { basename, dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { openTop } from './open-directory.ts';
import { removeEntry } from './remove-entry.ts';
import { createYielder } from './yielder.ts';

/** Removes a folder of the data directory with everything that an agent left in it. No-op when it does not exist. */
export async function removeFolder(path: string): Promise<void> {
  try {
    using parent = openTop(dirname(path));
    await removeEntry(
      { maybeYield: createYielder() },
      { directory: parent, name: basename(path), path: basename(path) },
    );
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
