import { emptyFolder, emptyFolders, type Folder, find, isFolder, withEntry } from '../tree/tree.ts';
import { mapThree, type ThreeWay } from './merge-folders.ts';

/** Adds the empty folders that both sides have or one side made, unless a file is in the way, and removes the others. */
export function mergeEmptyFolders(root: Folder, three: ThreeWay<Folder>): Folder {
  const { base, source, run } = mapThree(three, (of) => new Set(emptyFolders(of)));
  const isKept = (path: string) => (source.has(path) && run.has(path)) || (!base.has(path) && isIn(path));
  const isIn = (path: string) => source.has(path) || run.has(path);
  let result = root;
  for (const path of source.union(run)) {
    const names = path.split('/');
    if (isKept(path)) {
      if (isFree(result, names)) result = withEntry(result, names, emptyFolder());
      continue;
    }
    // A folder without entries is removed, unless a side has it as an empty folder.
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

/** Whether the path is free, and no file is at a folder above it. */
function isFree(root: Folder, names: readonly string[]): boolean {
  const isBlocked = names.slice(0, -1).some((_, index) => {
    const entry = find(root, names.slice(0, index + 1));
    return entry !== undefined && !isFolder(entry);
  });
  return !isBlocked && find(root, names) === undefined;
}
