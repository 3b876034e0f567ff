import { mkdirSync, renameSync } from 'node:fs';
import type { Deps } from '../../deps.ts';
import { openTop, openTree, setFolderOwner } from '../../files/index.ts';
import { createHead } from '../../run-folder/index.ts';
import { scanChildren } from '../../tree/index.ts';
import type { FillInput, TreeDriver, Written } from '../port.ts';

/** A tree is a plain folder with a copy of every file. */
export const copyDriver: TreeDriver = {
  use: async (_, { tree }) => ({
    open: () => openTree(tree),
    scan: ({ scan, top }, previous) => scanChildren(scan, top, '', previous),
    scansWrites: false,
    takesFolders: true,
  }),
  make: async (_, { folder }) => {
    mkdirSync(folder.tree, { mode: 0o700 });
    return { known: undefined, count: async () => undefined };
  },
  fill: fillCopy,
  find: async () => undefined,
  writesOf: ({ tree }) => tree,
  place: async (from, to) => {
    renameSync(from.tree, to.tree);
    return async () => {};
  },
};

async function fillCopy<Result extends Written>(
  deps: Deps,
  { folder, owner, write }: FillInput<Result>,
): Promise<Result> {
  const own = deps.isRoot ? owner : undefined;
  // Other users may traverse the folder of trees but not list its content.
  mkdirSync(`${folder.path}/trees`, { mode: 0o711 });
  mkdirSync(folder.tree, { mode: 0o700 });
  createHead(folder, deps.holder);
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, own, 0o700);
  return await write({ to: folder.tree, owner: own, isShared: false });
}
