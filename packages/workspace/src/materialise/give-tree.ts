import { lchownSync } from 'node:fs';
import { type Directory, namesIn, openChild, openTop, setLinkOwner, statIn } from '../files/index.ts';
import type { Owner } from '../port.ts';

/** Gives a tree that no run has used yet to its owner. */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  lchownSync(path, owner.uid, owner.gid);
  using top = openTop(path);
  give(top, owner);
}

function give(directory: Directory, owner: Owner): void {
  for (const name of namesIn(directory)) {
    setLinkOwner(directory.at(name), owner);
    if (statIn(directory, name)?.isDirectory() !== true) continue;
    using below = openChild(directory, name);
    give(below, owner);
  }
}
