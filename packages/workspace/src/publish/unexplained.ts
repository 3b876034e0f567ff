import { randomBytes } from 'node:crypto';
import type { Deps, RunFolder, SnapshotId } from '../deps.ts';
import type { BytePath } from '../files/index.ts';
import type { Change } from '../store/objects/index.ts';

/**
 * The changes of a set not made by any snapshot of the run: git compares each stored snapshot with the snapshot before, so neither the
 * trees in memory nor a wrong base decide alone about removals by a publish. Such a change comes from damage, and needs a person's
 * decision.
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

/** Paths changed by the snapshots after the base; none when the snapshots do not come from the base. */
async function changedBySnapshots(
  deps: Pick<Deps, 'git'>,
  { folder, base, snapshots }: { folder: RunFolder; base: SnapshotId; snapshots: readonly SnapshotId[] },
): Promise<Set<BytePath>> {
  const tips = snapshots.filter((id) => id !== base);
  // Random: no path can equal the mark.
  const mark = randomBytes(16).toString('hex');
  const args = [`--git-dir=${folder.shadow}`, 'log', ...shape, `--format=${mark}%m%H`, ...tips, `^${base}`];
  const { stdout } = await deps.git.run(['-c', 'log.showRoot=false', ...args], { maxBytes });
  const made = new Set<BytePath>();
  let isAfterBase = true;
  let comesFromBase = false;
  for (const part of stdout.toString('latin1').split('\0')) {
    if (part.startsWith(mark)) {
      const [side, id] = [part.slice(mark.length, mark.length + 1), part.slice(mark.length + 1)];
      isAfterBase = side !== '-';
      comesFromBase ||= !isAfterBase && id === base;
    } else if (isAfterBase) made.add(part.replace(/^\n/, ''));
  }
  return comesFromBase ? made : new Set();
}

/** `-m`: the second parent of a snapshot holds its `.git` entries. A root commit, as the base can be, lists no paths. */
const shape = ['-m', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--boundary', '--first-parent'];
const maxBytes = 1024 * 1024 * 1024;
