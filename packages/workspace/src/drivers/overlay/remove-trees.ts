import { renameSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { removeFolder, type Yielder } from '../../files/index.ts';
import { overlayOf, unmountIn } from './mounts.ts';

/** Removes a folder with possible trees of runs. */
export async function removeTrees(path: string, maybeYield?: Yielder): Promise<void> {
  await unmountIn(path);
  await removeFolder(path, maybeYield);
}

/** Removes a tree in the making or out of use, with the run's writes. */
export async function removeTree(tree: string): Promise<void> {
  for (const path of [tree, pointOf(tree), overlayOf({ tree })]) await removeTrees(path);
}

/** The mount point of a tree in use: the mount point of its build cannot be renamed. */
export const pointOf = (aside: string): string => `${aside}.point`;

/** Takes away the mounts of trees below a path. */
export const releaseTrees = (path: string): Promise<void> => unmountIn(path);

/** Moves a tree out of use, with the run's writes. @returns false when another process was faster */
export async function retireTree(tree: string, to: string): Promise<boolean> {
  if (!(await renameTree(tree, to))) return false;
  await renameTree(overlayOf({ tree }), overlayOf({ tree: to }));
  return true;
}

const maxRounds = 10;

/** Renames a tree after unmounting the tree: the kernel renames no mount point. Returns whether the tree existed. */
async function renameTree(from: string, to: string): Promise<boolean> {
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
