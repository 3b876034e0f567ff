import { randomBytes } from 'node:crypto';
import type { Deps, RunFolder, SnapshotId } from '../deps.ts';
import type { BytePath } from '../files/index.ts';
import { changedInChain } from '../host-git/changed-in-chain.ts';
import { isDamage } from '../host-git/find-damaged.ts';
import { allSnapshots } from '../store/journal/index.ts';
import type { Change } from '../store/objects/index.ts';

/**
 * The changes of a set not made by any snapshot of the run: each stored snapshot is compared with the snapshot before, so neither the
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
  return (await readChain(deps, { folder, base, tips })) ?? (await askGit(deps, { folder, base, tips }));
}

interface Range {
  folder: RunFolder;
  base: SnapshotId;
  tips: readonly SnapshotId[];
}

/** Undefined where git has to answer, for example for damaged objects. */
async function readChain(
  { git: { objects } }: Pick<Deps, 'git'>,
  { folder, base, tips }: Range,
): Promise<Set<BytePath> | undefined> {
  if (objects === undefined) return undefined;
  const gitDir = folder.shadow;
  try {
    return await changedInChain(objects, { gitDir, base, tips, commits: allSnapshots(gitDir) });
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

async function askGit(deps: Pick<Deps, 'git'>, { folder, base, tips }: Range): Promise<Set<BytePath>> {
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
