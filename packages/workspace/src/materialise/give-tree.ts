import { type Directory, namesIn, openChild, openTop, setFolderOwner, setLinkOwner, statIn } from '../files/index.ts';
import type { Owner } from '../port.ts';

/** Gives a tree that no run has used yet to its owner alone. */
export function giveTree(path: string, owner: Owner): void {
  using top = openTop(path);
  setFolderOwner(top.fd, owner, 0o700);
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
