import type { Deps, RunFolder, SnapshotId } from '../deps.ts';
import type { BytePath } from '../files/index.ts';
import type { Change } from '../tree/index.ts';

/**
 * The changes of a set that no snapshot of the run made: git compares each stored snapshot with the one before, so neither the trees in
 * memory nor a wrong base decide alone what a publish removes. Such a change comes from damage, and a person decides about it.
 */
export async function findUnexplained(
  deps: Pick<Deps, 'git'>,
  input: { folder: RunFolder; base: SnapshotId; snapshots: readonly SnapshotId[]; changes: readonly Change[] },
): Promise<ReadonlySet<BytePath>> {
  const { changes } = input;
  if (changes.length === 0) return new Set();
  const made = await changedBySnapshots(deps, input);
  return new Set(changes.flatMap(({ path }) => (made.has(path) ? [] : [path])));
}

export const unexplained =
  'No step of the run changed this file, so something else changed what is stored of the run. Take the source to leave the file as it is.';

/** What each snapshot after the base changed; nothing when the snapshots do not come from the base. */
async function changedBySnapshots(
  deps: Pick<Deps, 'git'>,
  { folder, base, snapshots }: { folder: RunFolder; base: SnapshotId; snapshots: readonly SnapshotId[] },
): Promise<Set<BytePath>> {
  const tips = snapshots.filter((id) => id !== base);
  const range = ['--first-parent', ...tips, `^${base}`];
  const shadow = `--git-dir=${folder.shadow}`;
  const { stdout: ids } = await deps.git.run([shadow, 'rev-list', '--boundary', ...range], { maxBytes });
  if (!ids.toString('latin1').split('\n').includes(`-${base}`)) return new Set();
  const { stdout } = await deps.git.run([shadow, 'log', ...shape, ...range], { maxBytes });
  return new Set(stdout.toString('latin1').split('\0'));
}

/** `-m`: the second parent of a snapshot holds its `.git` entries. */
const shape = ['-m', '--name-only', '-z', '--format=', '--no-renames', '--no-ext-diff'];
const maxBytes = 1024 * 1024 * 1024;
