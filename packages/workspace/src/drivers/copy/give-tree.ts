import {
  createYielder,
  type Directory,
  namesIn,
  openChild,
  openTop,
  setFolderOwner,
  setLinkOwner,
  statIn,
  type Yielder,
} from '../../files/index.ts';
import type { Owner } from '../../port/workspaces.ts';

/** Gives an unused tree to its owner alone. */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  using top = openTop(path);
  setFolderOwner(top.fd, owner, 0o700);
  await give(top, owner, createYielder());
}

async function give(directory: Directory, owner: Owner, maybeYield: Yielder): Promise<void> {
  for (const name of namesIn(directory)) {
    await maybeYield();
    setLinkOwner(directory.at(name), owner);
    if (statIn(directory, name)?.isDirectory() !== true) continue;
    using below = openChild(directory, name);
    await give(below, owner, maybeYield);
  }
}
