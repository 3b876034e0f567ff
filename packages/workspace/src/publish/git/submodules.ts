import type { Conflict } from '@holdpoint/contract';
import { toText } from '../../files/index.ts';
import { applyChanges, type Change, type Folder, find, isFolder, modes } from '../../store/objects/index.ts';

/** A tree of the source, and its submodules. A workspace does not contain submodules. */
export interface SourceTree {
  root: Folder;
  submodules: { path: string; oid: string }[];
}

/**
 * Adds the submodules of the source back. A file of the run in the place of a submodule is a conflict: the run could not see the submodule.
 */
export function withSubmodules(root: Folder, { submodules }: SourceTree): { root: Folder; conflicts: Conflict[] } {
  const changes = submodules.map(({ path, oid }): Change => ({ path, old: null, new: { mode: modes.submodule, oid } }));
  const isTaken = ({ path }: Change) => {
    const now = find(root, path.split('/'));
    return now !== undefined && !(isFolder(now) && now.entries.size === 0);
  };
  const placed = applyChanges(root, changes);
  const taken = [...changes.filter(isTaken).map(({ path }) => path), ...placed.blocked];
  return { root: placed.root, conflicts: [...new Set(taken)].map(conflictAt) };
}

const conflictAt = (path: string): Conflict => ({
  path: toText(path),
  reason: 'changed_in_source',
  detail: 'The branch has a submodule here, which workspaces do not contain, and the run has files in its place.',
});
