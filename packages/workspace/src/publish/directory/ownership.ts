import { WorkspaceError } from '../../errors.ts';
import { type Leaf, modes } from '../../store/objects/index.ts';
import { inspect, type Ownership } from './inspect-source.ts';

/** Owner and permissions of the nearest existing folder, and the missing folders below. */
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
  if (found.kind !== 'directory') throw new WorkspaceError('ESOURCEMISSING', `${root} is no longer a directory.`);
  return { ownership: ownershipOf(found), missing };
}

/** Permission bits of a file in the run's snapshot. */
export interface RunBits {
  bits: number;
  /** Whether the run removed permissions of group or others. */
  isNarrowed: boolean;
}

/**
 * A replacement keeps the owner and permissions of the replaced file, with the executable bit adjusted and minus the permissions removed by
 * the run. A new file gets the owner of its folder and the permissions from the run.
 */
export function withOwnership(
  leaf: Leaf,
  old: (Leaf & Ownership) | null,
  { parent, run }: { parent: Ownership; run: RunBits },
): Leaf & Ownership {
  const { uid, gid } = old ?? parent;
  const executable = leaf.mode === modes.executable;
  if (old === null || old.mode === modes.symlink) {
    return { ...leaf, permissions: run.bits, uid, gid };
  }
  const bits = old.permissions & 0o777;
  const permissions =
    executable === (old.mode === modes.executable)
      ? old.permissions & 0o777
      : executable
        ? bits | ((bits & 0o444) >> 2)
        : bits & ~0o111;
  return { ...leaf, permissions: run.isNarrowed ? permissions & (run.bits | 0o700) : permissions, uid, gid };
}

export function ownershipOf({ permissions, uid, gid }: Ownership): Ownership {
  return { permissions, uid, gid };
}
