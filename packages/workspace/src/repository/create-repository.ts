import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openTop } from '../files/open-directory.ts';
import { setFileOwner, setFolderOwner } from '../files/set-owner.ts';
import { writeAll } from '../files/write-durably.ts';
import type { Owner } from '../port.ts';
import type { Folder } from '../tree/tree.ts';
import { buildIndex } from './index-file.ts';
import { initialFiles, initialFolders } from './repository-files.ts';

/** Creates the repository of a new tree: at its base commit, with a clean status. */
export function createRepository(input: {
  tree: string;
  root: Folder;
  baseCommit: string;
  owner: Owner | undefined;
}): void {
  const { owner } = input;
  const path = join(input.tree, '.git');
  for (const name of ['', ...initialFolders]) {
    mkdirSync(join(path, name), { mode: 0o755 });
    using folder = openTop(join(path, name));
    setFolderOwner(folder.fd, owner);
  }
  const files = { ...initialFiles(input.baseCommit), index: buildIndex(input.root) };
  for (const [name, content] of Object.entries(files)) {
    const fd = openSync(join(path, name), 'wx', 0o644);
    try {
      writeAll(fd, Buffer.from(content));
      setFileOwner(fd, owner, 0o644);
    } finally {
      closeSync(fd);
    }
  }
}
