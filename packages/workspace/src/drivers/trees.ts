import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, type RunFolder, unlessMissing } from '../deps.ts';
import type { TreeContent } from '../tree/index.ts';
import { copyDriver } from './copy/copy-driver.ts';
import { isMountPoint } from './overlay/mounts.ts';
import { overlayDriver } from './overlay/overlay-driver.ts';
import type { FillInput, MakeInput, NewTree, SharedFiles, TreeDriver, TreePath, UsedTree, Written } from './port.ts';

export { isTreeLost } from './overlay/mounted-tree.ts';
export { releaseTrees, removeTree, removeTrees, retireTree } from './overlay/mounts.ts';
export { createSharing } from './overlay/sharing.ts';
export { tidyLayers as tidyTrees } from './overlay/tidy-layers.ts';

/** The first driver that takes a tree holds it. The last driver takes every tree. */
const drivers: readonly TreeDriver[] = [overlayDriver, copyDriver];

async function first<T>(ask: (driver: TreeDriver) => Promise<T | undefined>): Promise<T> {
  for (const driver of drivers) {
    const answer = await ask(driver);
    if (answer !== undefined) return answer;
  }
  throw new Error('No driver holds the tree.');
}

/** Makes a tree ready for use. Every use of a tree begins here. @throws WorkspaceError for a tree that must be built again */
export const useTree = (deps: Deps, folder: RunFolder): Promise<UsedTree> =>
  first((driver) => driver.use(deps, folder));

/** Makes a tree for a snapshot: the caller checks the snapshot out. */
export const makeTree = (deps: Deps, input: MakeInput): Promise<NewTree> => first((driver) => driver.make(deps, input));

/** Lets a writer write the files of a new run's tree. */
export const importTree = <Result extends Written>(deps: Deps, input: FillInput<Result>): Promise<Result> =>
  first((driver) => driver.fill(deps, input));

/** Finds files with this content that a new run can have without a copy. */
export async function findShared(
  deps: Deps,
  content: TreeContent & { tenant: string | undefined },
): Promise<SharedFiles | undefined> {
  for (const driver of drivers) {
    const found = await driver.find(deps, content);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The folder with everything that the run wrote. Also for a tree out of use. */
export function writesOf(tree: TreePath): string {
  const [folder = tree.tree] = drivers.flatMap((driver) => driver.writesOf(tree) ?? []);
  return folder;
}

/** Gives a tree made aside its place. @returns the last step, once the tree has its head */
export const placeTree = (from: TreePath, to: RunFolder): Promise<() => Promise<void>> =>
  first((driver) => driver.place(from, to));

/** The folders of a run with its own files: what runs share does not count. */
export async function ownFolders({ path }: Pick<RunFolder, 'path'>): Promise<string[]> {
  const all = await Promise.all(['trees', 'overlays', 'retired'].map((name) => foldersIn(join(path, name))));
  return all.flat().filter((folder) => !isMountPoint(folder));
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(unlessMissing<Dirent[]>([], unreadable));
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

const unreadable = ['ENOENT', 'ENOTDIR', 'EACCES'];
