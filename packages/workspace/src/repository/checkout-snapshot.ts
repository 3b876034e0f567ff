import { isDotGit } from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import type { RunFolder } from '../run-folder/index.ts';
import { type Checkout, checkoutTree, knownRoot, type LoadedSnapshot, type RunState } from '../tree/index.ts';
import { loadRepositories, repositoryScan, wholeTree } from '../tree/repositories.ts';

/** Makes a tree equal to a snapshot, its `.git` entries included. */
export async function checkoutSnapshot(
  deps: { git: Git },
  input: {
    checkout: Omit<Checkout, 'permissions' | 'hides'>;
    folder: RunFolder;
    state: RunState;
    target: LoadedSnapshot;
  },
): Promise<void> {
  const { checkout, target } = input;
  const { permissions } = target.manifest;
  const known = knownRoot(target);
  const repositories = await loadRepositories(deps, { ...input, snapshot: target });
  if (repositories === undefined) return checkoutTree({ ...checkout, permissions }, known);
  const { onWritten } = checkout;
  const inside = repositoryScan(checkout.scan);
  const whole = {
    ...checkout,
    scanAt: (path: string) => (isInRepository(path) ? inside : checkout.scan),
    hides: () => false,
    permissions,
    // Counts only the run's own files.
    onWritten: onWritten && ((bytes: number, path: string) => void (isInRepository(path) || onWritten(bytes, path))),
  };
  await checkoutTree(whole, wholeTree(known, repositories.root));
}

const isInRepository = (path: string): boolean => path.split('/').some(isDotGit);
