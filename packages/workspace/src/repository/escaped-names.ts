import { isDotGit } from '../files/path-name.ts';
import { type Entry, type Folder, isFolder } from '../tree/tree.ts';

const prefix = 'dot:';

/** The tree with names that `git fsck` takes in no tree object. */
export const escaped = (folder: Folder): Folder =>
  renamed(folder, (name) => (isDotGit(name) || name.startsWith(prefix) ? `${prefix}${name}` : name));

export const unescaped = (folder: Folder): Folder =>
  renamed(folder, (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));

/** Folders in which no name changes stay the same objects, and keep their ids. */
function renamed(folder: Folder, rename: (name: string) => string): Folder {
  const entries = new Map<string, Entry>();
  let isSame = true;
  for (const [name, entry] of folder.entries) {
    const next = isFolder(entry) ? renamed(entry, rename) : entry;
    const called = rename(name);
    isSame &&= called === name && next === entry;
    entries.set(called, next);
  }
  return isSame ? folder : { entries };
}
