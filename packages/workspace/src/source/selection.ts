import type { Source } from '@holdpoint/contract';
import { type BytePath, fromPlain, isWithin } from '../files/index.ts';
import { type Folder, isFolder } from '../store/objects/index.ts';
import { compileGlob } from './glob.ts';

/** Decides about the paths of a source to copy into the workspace. */
export interface Selection {
  /** Whether a folder and everything inside is excluded. */
  excludes(path: BytePath): boolean;
  /** Whether a file, link or folder is selected. */
  has(path: BytePath): boolean;
}

interface Globs {
  type?: Source['type'];
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  with?: readonly string[] | undefined;
}

export const selectAll: Selection = { excludes: () => false, has: () => true };

/**
 * A glob matching a folder matches everything below; see `compileGlob`. `exclude` wins over `include`. The folders shown to a run from a
 * directory (`with`) are excluded, too; shown folders of a git source are no part of its commit anyway.
 * @throws WorkspaceError EGLOBINVALID
 */
export function createSelection({ type, include, exclude, with: folders }: Globs): Selection {
  const shown = type === 'directory' ? (folders ?? []) : [];
  if (include === undefined && exclude === undefined && shown.length === 0) return selectAll;
  const wanted = include === undefined ? () => true : matcher(include);
  const excluded = matcher(exclude ?? []);
  const isShown = within(shown);
  const unwanted = (path: BytePath) => excluded(path) || isShown(path);
  return {
    excludes: unwanted,
    has: (path) => wanted(path) && !unwanted(path),
  };
}

/** Whether a path is in the list of folders, or below a folder of the list. */
function within(folders: readonly string[]): (path: BytePath) => boolean {
  const paths = folders.map(fromPlain);
  return (path) => paths.some((folder) => isWithin(path, folder));
}

/** Whether a path, or a folder above, matches any glob. */
function matcher(globs: readonly string[]): (path: BytePath) => boolean {
  const isMatch = globs.map(compileGlob);
  const folders = new Map<string, boolean>();
  const isMatched = (path: string): boolean => {
    if (isMatch.some((matches) => matches(path))) return true;
    const above = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
    if (above === '') return false;
    const known = folders.get(above) ?? isMatched(above);
    folders.set(above, known);
    return known;
  };
  return (path) => isMatched(Buffer.from(path, 'latin1').toString('utf8'));
}

/** The selected part of a tree. Unchanged folders are shared; a folder with a lost entry gets a new object id. */
export function selectTree(root: Folder, selection: Selection): Folder {
  if (selection === selectAll) return root;
  const visit = (folder: Folder, path: string): Folder => {
    const entries: Folder['entries'] = new Map();
    for (const [name, entry] of folder.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      if (!isFolder(entry)) {
        if (selection.has(below)) entries.set(name, entry);
        continue;
      }
      if (selection.excludes(below)) continue;
      const kept = visit(entry, below);
      if (kept.entries.size > 0 || selection.has(below)) entries.set(name, kept);
    }
    const isWhole =
      entries.size === folder.entries.size && [...entries].every(([name, entry]) => folder.entries.get(name) === entry);
    return isWhole ? folder : { entries };
  };
  return visit(root, '');
}
