import { renameSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { removeFolder, type Yielder } from '../files/index.ts';
import { unmountIn } from './mounts.ts';

/** Removes a folder with possible trees of runs. */
export async function removeTrees(path: string, maybeYield?: Yielder): Promise<void> {
  await unmountIn(path);
  await removeFolder(path, maybeYield);
}

const maxRounds = 10;

/** Renames a tree after unmounting the tree: the kernel renames no mount point. Returns whether the tree existed. */
export async function renameTree(from: string, to: string): Promise<boolean> {
  for (let round = 1; ; round++) {
    await unmountIn(from);
    try {
      renameSync(from, to);
      return true;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return false;
      // Another process has mounted the tree once more.
      if (errno !== 'EBUSY' || round === maxRounds) throw error;
    }
  }
}
