import * as files from '../../files/index.ts';
import type { Owner } from '../../port/workspaces.ts';

/** Gives an unused tree to its owner alone. */
export async function giveTree(path: string, owner: Owner): Promise<void> {
  using top = files.openTop(path);
  files.setFolderOwner(top.fd, owner, 0o700);
  await give(top, owner, files.createYielder());
}

async function give(directory: files.Directory, owner: Owner, maybeYield: files.Yielder): Promise<void> {
  for (const name of files.namesIn(directory)) {
    await maybeYield();
    files.setLinkOwner(directory.at(name), owner);
    if (files.statIn(directory, name)?.isDirectory() !== true) continue;
    using below = files.openChild(directory, name);
    await give(below, owner, maybeYield);
  }
}
