import { WorkspaceError } from '../errors.ts';
import { namesIn, openChain, openTop, statIn } from '../files/open-directory.ts';
import { isDotGit, toText } from '../files/path-name.ts';
import type { Conflict } from '../port.ts';
import type { Change, Folder, Leaf } from '../tree/tree.ts';
import { find, isFolder, isSame, modes } from '../tree/tree.ts';
import type { Found, Ownership } from './inspect-source.ts';
import { inspect } from './inspect-source.ts';
import type { Journal, JournalEntry } from './publish-journal.ts';

export interface Plan {
  conflicts: Conflict[];
  journal: Pick<Journal, 'entries' | 'made' | 'emptied'>;
}

/**
 * Compares every path with the source as it is now, and writes down what is to be done. Changes nothing.
 * @param input.before the tree that the source is expected to hold
 * @param input.after the snapshot's tree: folders that it still has are not removed when they become empty
 */
export async function planPublish(
  root: string,
  input: { wanted: readonly Change[]; before: Folder; after: Folder },
): Promise<Plan> {
  const { wanted } = input;
  const deleted = new Set(wanted.filter((change) => change.new === null).map((change) => change.path));
  const conflicts: Conflict[] = [];
  const entries: JournalEntry[] = [];
  const made = new Set<string>();
  for (const change of wanted) {
    const found = await inspect(root, change.path);
    const wasFolder = isFolder(find(input.before, change.path.split('/')));
    const detail = objection(root, { change, found, wasFolder, deleted });
    if (detail !== undefined) {
      conflicts.push({ path: toText(change.path), reason: 'changed_in_source', detail });
      continue;
    }
    const parent = await parentOf(root, change.path);
    if (change.new !== null) for (const path of parent.missing) made.add(path);
    const old = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid, ...ownershipOf(found) } : null;
    entries.push({ path: change.path, old, new: change.new && withOwnership(change.new, old, parent.ownership) });
  }
  const order = (entry: JournalEntry) => (entry.new === null ? 0 : 1);
  entries.sort((a, b) => order(a) - order(b));
  return {
    conflicts,
    journal: {
      entries,
      made: [...made].sort(),
      emptied: parentsOf(deleted).filter((path) => !isFolder(find(input.after, path.split('/')))),
    },
  };
}

/** Why a path cannot be published; undefined when it can. A path that is already as wanted is fine. */
function objection(
  root: string,
  at: { change: Change; found: Found; wasFolder: boolean; deleted: ReadonlySet<string> },
): string | undefined {
  const { change, found, deleted } = at;
  switch (found.kind) {
    case 'leaf':
      if (isSame(found, change.old ?? undefined) || isSame(found, change.new ?? undefined)) return undefined;
      return change.old === null
        ? 'A file that the run did not start from is there now.'
        : 'The file changed since the run started.';
    case 'absent':
      return change.old === null || change.new === null ? undefined : 'The file was removed since the run started.';
    case 'blocked':
      if (change.new === null || deleted.has(found.by)) return undefined;
      return `${toText(found.by)} is not a folder any more.`;
    case 'directory':
      if (at.wasFolder && holdsOnly(root, change.path, deleted)) return undefined;
      return 'A folder with other files is there now.';
    case 'special':
      return 'A socket, FIFO or device is there now.';
    default:
      throw found satisfies never;
  }
}

/** Whether everything in a folder is about to be deleted. */
function holdsOnly(root: string, path: string, deleted: ReadonlySet<string>): boolean {
  using top = openTop(root);
  using directory = openChain(top, path.split('/'));
  if (directory === undefined) return true;
  return namesIn(directory).every((name) => {
    const below = `${path}/${name}`;
    if (isDotGit(name)) return false;
    return statIn(directory, name)?.isDirectory() === true ? holdsOnly(root, below, deleted) : deleted.has(below);
  });
}

/** Owner and permissions of the nearest folder that exists, and the folders that are missing below it. */
async function parentOf(root: string, path: string): Promise<{ ownership: Ownership; missing: string[] }> {
  const names = path.split('/').slice(0, -1);
  const missing: string[] = [];
  for (let depth = names.length; depth > 0; depth--) {
    const parent = names.slice(0, depth).join('/');
    const found = await inspect(root, parent);
    if (found.kind === 'directory') return { ownership: ownershipOf(found), missing };
    missing.push(parent);
  }
  const found = await inspect(root, '.');
  if (found.kind !== 'directory') throw new WorkspaceError('ESOURCEMISSING', `${root} is not a directory any more.`);
  return { ownership: ownershipOf(found), missing };
}

/** Owner and permissions of the file that is replaced, with the executable bit put right; of the parent folder for a new one. */
function withOwnership(leaf: Leaf, old: (Leaf & Ownership) | null, parent: Ownership): Leaf & Ownership {
  const { uid, gid } = old ?? parent;
  const executable = leaf.mode === modes.executable;
  if (old === null || old.mode === modes.symlink) {
    return { ...leaf, permissions: executable ? 0o755 : 0o644, uid, gid };
  }
  const bits = old.permissions & 0o777;
  const permissions =
    executable === (old.mode === modes.executable)
      ? old.permissions & 0o777
      : executable
        ? bits | ((bits & 0o444) >> 2)
        : bits & ~0o111;
  return { ...leaf, permissions, uid, gid };
}

function ownershipOf(found: Ownership): Ownership {
  return { permissions: found.permissions, uid: found.uid, gid: found.gid };
}

/** Folders above deleted files, deepest first. */
function parentsOf(deleted: ReadonlySet<string>): string[] {
  const parents = new Set<string>();
  for (const path of deleted) {
    const names = path.split('/');
    for (let depth = names.length - 1; depth > 0; depth--) parents.add(names.slice(0, depth).join('/'));
  }
  return [...parents].sort((a, b) => b.split('/').length - a.split('/').length);
}
