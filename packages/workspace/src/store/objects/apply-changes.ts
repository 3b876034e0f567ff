import { type Change, type Entry, type Folder, isFolder } from './tree.ts';

/**
 * Applies changes to a copy of a tree. Each folder is copied once, so many changes in a folder cost no more than the folder. A folder
 * without a last file is removed.
 * @returns `blocked`: paths of unapplied changes, because they would remove other files: a folder with files is at the path, or a file is in
 * the place of a parent folder
 */
export function applyChanges(root: Folder, changes: readonly Change[]): { root: Folder; blocked: string[] } {
  const mine = new Set<Folder>();
  const own = (folder: Folder): Folder => {
    if (mine.has(folder)) return folder;
    const copy: Folder = { entries: new Map(folder.entries) };
    mine.add(copy);
    return copy;
  };
  const result = own(root);
  /** Copies of the folders above a path; undefined when a folder is missing and `make` is false, or a file is in the way. */
  const foldersTo = (names: readonly string[], make: boolean): Folder[] | undefined => {
    const folders = [result];
    for (const name of names) {
      const parent = folders.at(-1) ?? result;
      const child: Entry | undefined = parent.entries.get(name);
      if (child === undefined ? !make : !isFolder(child)) return undefined;
      const next = own(isFolder(child) ? child : { entries: new Map() });
      parent.entries.set(name, next);
      folders.push(next);
    }
    return folders;
  };
  for (const change of changes) {
    if (change.new !== null) continue;
    const names = change.path.split('/');
    const name = names.pop() ?? '';
    const folders = foldersTo(names, false);
    const entry = folders?.at(-1)?.entries.get(name);
    if (folders === undefined || entry === undefined || isFolder(entry)) continue;
    folders.at(-1)?.entries.delete(name);
    for (let depth = names.length; depth > 0 && folders[depth]?.entries.size === 0; depth--) {
      folders[depth - 1]?.entries.delete(names[depth - 1] ?? '');
    }
  }
  const blocked: string[] = [];
  for (const change of changes) {
    if (change.new === null) continue;
    const names = change.path.split('/');
    const name = names.pop() ?? '';
    const folder = foldersTo(names, true)?.at(-1);
    const current = folder?.entries.get(name);
    if (folder === undefined || (isFolder(current) && current.entries.size > 0)) blocked.push(change.path);
    else folder.entries.set(name, change.new);
  }
  return { root: result, blocked };
}
