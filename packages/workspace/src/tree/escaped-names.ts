import { isDotGit } from '../files/index.ts';
import { type Entry, type Folder, isFolder } from '../store/objects/index.ts';

const prefix = 'dot:';

/** Escapes names rejected by `git fsck` in tree objects. */
export const escapeNames = (folder: Folder): Folder =>
  renamed(folder, (name) => (isDotGit(name) || name.startsWith(prefix) ? `${prefix}${name}` : name));

export const unescapeNames = (folder: Folder): Folder =>
  renamed(folder, (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));

/** Folders without a changed name stay the same objects and keep their ids. */
function renamed(folder: Folder, rename: (name: string) => string): Folder {
  const entries = new Map<string, Entry>();
  let isSame = true;
  for (const [name, entry] of folder.entries) {
    const next = isFolder(entry) ? renamed(entry, rename) : entry;
    const renamedTo = rename(name);
    isSame &&= renamedTo === name && next === entry;
    entries.set(renamedTo, next);
  }
  return isSame ? folder : { entries };
}
