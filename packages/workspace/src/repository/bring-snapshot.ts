import { isDotGit } from '../files/path-name.ts';
import type { Git } from '../host-git/git.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { RunState } from '../run/run-state.ts';
import { type Bring, bringTree } from '../tree/bring-tree.ts';
import { knownRoot, type LoadedSnapshot } from '../tree/load-snapshot.ts';
import { insideRepositories, loadRepositories, wholeTree } from './repositories.ts';

/** Makes a tree equal to a snapshot, its `.git` entries included. */
export async function bringSnapshot(
  deps: { git: Git },
  input: { bring: Omit<Bring, 'permissions' | 'hides'>; folder: RunFolder; state: RunState; target: LoadedSnapshot },
): Promise<void> {
  const { bring, target } = input;
  const { permissions } = target.manifest;
  const known = knownRoot(target);
  const repositories = await loadRepositories(deps, { ...input, snapshot: target });
  if (repositories === undefined) return bringTree({ ...bring, permissions }, known);
  const { onWritten } = bring;
  const inside = insideRepositories(bring.scan);
  const whole = {
    ...bring,
    scanAt: (path: string) => (isInRepository(path) ? inside : bring.scan),
    hides: () => false,
    permissions,
    // Counts the files of the run.
    ...(onWritten && {
      onWritten: (bytes: number, path: string) => isInRepository(path) || onWritten(bytes, path),
    }),
  };
  await bringTree(whole, wholeTree(known, repositories.root));
}

const isInRepository = (path: string): boolean => path.split('/').some(isDotGit);
