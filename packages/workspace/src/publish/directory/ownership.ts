import { WorkspaceError } from '../../errors.ts';
import type { Leaf } from '../../tree/tree.ts';
import { modes } from '../../tree/tree.ts';
import type { Ownership } from './inspect-source.ts';
import { inspect } from './inspect-source.ts';

/** Owner and permissions of the nearest folder that exists, and the folders that are missing below it. */
export async function parentOf(root: string, path: string): Promise<{ ownership: Ownership; missing: string[] }> {
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
export function withOwnership(leaf: Leaf, old: (Leaf & Ownership) | null, parent: Ownership): Leaf & Ownership {
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

export function ownershipOf({ permissions, uid, gid }: Ownership): Ownership {
  return { permissions, uid, gid };
}
