import { posix } from 'node:path';

/** The paths of a tree, found by folder and by their end. */
export interface PathIndex {
  has(path: string): boolean;
  isFolder(path: string): boolean;
  /** The files directly in a folder; `''` is the root. */
  filesIn(folder: string): readonly string[];
  /** The paths with these whole segments at the end. */
  endingWith(end: string): string[];
  /** The folders with these whole segments at the end. */
  foldersEndingWith(end: string): string[];
}

export function indexPaths(paths: Iterable<string>): PathIndex {
  const files = new Set(paths);
  const byFolder = new Map<string, string[]>();
  const byName = new Map<string, string[]>();
  const folders = new Map<string, string[]>();
  for (const path of files) {
    push(byName, posix.basename(path), path);
    push(byFolder, folderOf(path), path);
    addFolders(byFolder, folders, folderOf(path));
  }
  return {
    has: (path) => files.has(path),
    isFolder: (path) => byFolder.has(path),
    filesIn: (folder) => byFolder.get(folder) ?? [],
    endingWith: (end) => (byName.get(posix.basename(end)) ?? []).filter((path) => endsWith(path, end)),
    foldersEndingWith: (end) => (folders.get(posix.basename(end)) ?? []).filter((path) => endsWith(path, end)),
  };
}

/** `''` for a file of the root. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end < 0 ? '' : path.slice(0, end);
}

/** A path below a folder of the tree; undefined for a path out of the tree. */
export function joinPath(folder: string, path: string): string | undefined {
  const joined = posix.join(folder, path).replace(/\/$/, '');
  if (joined === '..' || joined.startsWith('../') || joined.startsWith('/')) return undefined;
  return joined === '.' ? '' : joined;
}

/** The folder and its parents, innermost first, with the root. */
export function foldersAround(folder: string): string[] {
  const around = [folder];
  for (let at = folder; at !== ''; ) {
    at = folderOf(at);
    around.push(at);
  }
  return around;
}

function endsWith(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`);
}

function addFolders(byFolder: Map<string, string[]>, folders: Map<string, string[]>, folder: string): void {
  for (let at = folder; at !== ''; at = folderOf(at)) {
    const known = folders.get(posix.basename(at));
    if (known?.includes(at)) return;
    push(folders, posix.basename(at), at);
    if (!byFolder.has(at)) byFolder.set(at, []);
  }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** Where an import leads. Both empty: the target should be in the tree and is not, or cannot be known. */
export interface ImportTarget {
  /** Files of the tree, sorted, at most 100; several for the name of a package, a namespace or a folder. */
  files: readonly string[];
  /**
   * The import leads outside the tree: the name of the package or the standard module, as `react`, `@scope/name`, `os`, `fmt`, `java.util`.
   */
  external?: string;
}

/** A namespace of C# can have thousands of files, each used by thousands of files. */
const maxFiles = 100;
export const unknownTarget: ImportTarget = { files: [] };

export function toTarget(files: Iterable<string>): ImportTarget {
  return { files: [...new Set(files)].sort().slice(0, maxFiles) };
}

export function toExternal(name: string): ImportTarget {
  return { files: [], external: name };
}
