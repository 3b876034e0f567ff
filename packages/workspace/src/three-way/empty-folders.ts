import { emptyFolder, emptyFolders, type Folder, find, isFolder, withEntry } from '../tree/tree.ts';
import { each, type Three } from './merge-folders.ts';

/** A merged tree with the empty folders that both sides have or one side made, where files leave room for them, and without the others. */
export function mergeEmptyFolders(root: Folder, three: Three<Folder>): Folder {
  const { base, source, run } = each(three, (of) => new Set(emptyFolders(of)));
  const isKept = (path: string) => (source.has(path) && run.has(path)) || (!base.has(path) && isIn(path));
  const isIn = (path: string) => source.has(path) || run.has(path);
  let result = root;
  for (const path of source.union(run)) {
    const names = path.split('/');
    if (isKept(path)) {
      if (isFree(result, names)) result = withEntry(result, names, emptyFolder());
      continue;
    }
    // A folder goes with the last one in it, unless a side has it as an empty one.
    for (; names.length > 0 && isEmpty(result, names) && !isKept(names.join('/')); names.pop()) {
      result = withEntry(result, names, undefined);
    }
  }
  return result;
}

function isEmpty(root: Folder, names: readonly string[]): boolean {
  const entry = find(root, names);
  return isFolder(entry) && entry.entries.size === 0;
}

/** Whether nothing is at the path, and no file on the way to it. */
function isFree(root: Folder, names: readonly string[]): boolean {
  const isBlocked = names.slice(0, -1).some((_, index) => {
    const entry = find(root, names.slice(0, index + 1));
    return entry !== undefined && !isFolder(entry);
  });
  return !isBlocked && find(root, names) === undefined;
}
