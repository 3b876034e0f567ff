import { type Change, type Entry, type Folder, isFolder } from '../tree/tree.ts';

/**
 * A tree with changes applied: what they do not name stays as it is. Folders are copied once each, so that many changes in one folder cost
 * no more than the folder. A folder whose last file goes, goes too.
 * @returns paths of changes that would take other files away, because a folder with files is there or a file where a folder would have to be;
 * those are not applied
 */
export function overlay(root: Folder, changes: readonly Change[]): { root: Folder; blocked: string[] } {
  const mine = new Set<Folder>();
  const own = (folder: Folder): Folder => {
    if (mine.has(folder)) return folder;
    const copy: Folder = { entries: new Map(folder.entries) };
    mine.add(copy);
    return copy;
  };
  const result = own(root);
  /** The folders on the way to a path, copied; undefined when one is missing and not to be made, or a file is in the way. */
  const way = (names: readonly string[], make: boolean): Folder[] | undefined => {
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
    const folders = way(names, false);
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
    const folder = way(names, true)?.at(-1);
    const there = folder?.entries.get(name);
    if (folder === undefined || (isFolder(there) && there.entries.size > 0)) blocked.push(change.path);
    else folder.entries.set(name, change.new);
  }
  return { root: result, blocked };
}
