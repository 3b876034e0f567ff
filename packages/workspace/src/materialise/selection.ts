import picomatch from 'picomatch';
import { WorkspaceError } from '../errors.ts';
import type { BytePath } from '../files/path-name.ts';
import type { Folder } from '../tree/tree.ts';
import { isFolder } from '../tree/tree.ts';

/** Which paths of a source come into the workspace. */
export interface Selection {
  /** Whether a folder need not be looked into. */
  excludes(path: BytePath): boolean;
  /** Whether a file, a link or a folder by itself is wanted. */
  has(path: BytePath): boolean;
}

interface Globs {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
}

/** Everything, without asking. */
export const everything: Selection = { excludes: () => false, has: () => true };

/**
 * A glob that matches a folder matches everything below it; one without a slash matches at any depth, as in a `.gitignore`. Names
 * that start with a dot are like any other. @throws WorkspaceError EGLOBINVALID
 */
export function createSelection({ include, exclude }: Globs): Selection {
  if (include === undefined && exclude === undefined) return everything;
  const wanted = include === undefined ? () => true : matcher(include);
  const unwanted = matcher(exclude ?? []);
  return {
    excludes: unwanted,
    has: (path) => wanted(path) && !unwanted(path),
  };
}

/** Whether a path, or a folder above it, matches one of the globs. */
function matcher(globs: readonly string[]): (path: BytePath) => boolean {
  const isMatch = globs.map(compile);
  return (path) => {
    const text = Buffer.from(path, 'latin1').toString('utf8');
    for (let end = text.indexOf('/'); ; end = text.indexOf('/', end + 1)) {
      const above = end === -1 ? text : text.slice(0, end);
      if (isMatch.some((matches) => matches(above))) return true;
      if (end === -1) return false;
    }
  };
}

function compile(glob: string): (path: string) => boolean {
  const plain = glob.replace(/^\.\//, '').replace(/\/+$/, '');
  const refuse = (why: string): never => {
    throw new WorkspaceError('EGLOBINVALID', `The glob ${JSON.stringify(glob)} ${why}.`);
  };
  if (plain === '' || plain.startsWith('/') || plain.split('/').includes('..')) {
    return refuse('does not lie in the workspace');
  }
  if (plain.startsWith('!')) return refuse('begins with "!"; use include or exclude');
  const anywhere = plain.includes('/') ? plain : `**/${plain}`;
  try {
    return picomatch(anywhere, { dot: true, nonegate: true, strictBrackets: true });
  } catch (cause) {
    throw new WorkspaceError('EGLOBINVALID', `The glob ${JSON.stringify(glob)} cannot be read.`, { cause });
  }
}

/** The part of a tree that is wanted. What lies in it is shared; folders that lose something get a new object id. */
export function selectTree(root: Folder, selection: Selection): Folder {
  if (selection === everything) return root;
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
