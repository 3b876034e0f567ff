import { knownRoot, type LoadedSnapshot } from './load-snapshot.ts';
import type { Permissions } from './permissions.ts';

/** Everything that makes two trees equal to their users, without `.git` entries. */
export interface TreeContent {
  /** Hex id of the git tree. */
  readonly tree: string;
  readonly permissions: Permissions;
  /** Byte paths of folders without any entry. */
  readonly empty: readonly string[];
}

/** The files of a snapshot; undefined for a snapshot without all files of its tree. */
export function contentOf(snapshot: LoadedSnapshot): TreeContent | undefined {
  const { root, tree, manifest } = snapshot;
  if (knownRoot(snapshot) !== root) return undefined;
  return { tree, permissions: manifest.permissions, empty: manifest.empty };
}
