import { type Deps, errnoOf, type SnapshotId, WorkspaceError } from '../deps.ts';
import type { Git } from '../host-git/git.ts';
import { readPieces } from '../host-git/read-rows.ts';
import { type RunFolder, requireRecord, type WorkspaceRecord } from '../run-folder/index.ts';
import { isSnapshot, listSnapshots } from '../store/journal/index.ts';
import { linkObjects } from '../store/link-objects.ts';
import { writeRef } from '../store/objects/index.ts';
import { assertSnapshot } from '../tree/index.ts';

interface Input {
  folder: RunFolder;
  from: RunFolder;
  origin: WorkspaceRecord;
  snapshot: SnapshotId;
  signal?: AbortSignal;
}

/** How often a collection of the other repository may interfere. */
const maxRounds = 10;

/**
 * Copies a snapshot and all earlier ones: objects first, then, once git has verified them, the list of snapshots. Reads only files of the other run, and
 * git runs only on the new repository, so the other run can be written, collected or discarded at the same time.
 */
export async function copyHistory(deps: Deps, input: Input): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await copyOnce(deps, input);
    } catch (error) {
      input.signal?.throwIfAborted();
      requireRecord(input.from);
      assertSnapshot(input.from, input.snapshot);
      const isTransient =
        errnoOf(error) === 'ENOENT' || (error instanceof WorkspaceError && error.code === 'EGITFAILED');
      if (!isTransient || round === maxRounds) throw error;
    }
  }
}

async function copyOnce(deps: Deps, { folder, from, origin, snapshot, signal }: Input): Promise<void> {
  await linkObjects(from.shadow, folder.shadow);
  deps.onPoint('fork.linked');
  if (origin.base_commit !== null) await writeRef(folder.shadow, 'refs/holdpoint/base', origin.base_commit);
  const base = origin.base_commit === null ? [] : [origin.base_commit];
  const tips = [...base, '--end-of-options', snapshot, origin.base];
  const reached = await checkObjects(deps.git, { gitDir: folder.shadow, tips, signal });
  await listSnapshots(
    folder.shadow,
    reached.filter((id) => isSnapshot(from.shadow, id)),
  );
  assertSnapshot(folder, snapshot);
  assertSnapshot(folder, origin.base);
}

/**
 * Lets git find every object behind some commits. git lists the commits first, an id a line; the lines of the objects behind have a space
 * and are not kept: there may be millions.
 * @returns the commits
 */
async function checkObjects(
  git: Git,
  { gitDir, tips, signal }: { gitDir: string; tips: readonly string[]; signal: AbortSignal | undefined },
): Promise<string[]> {
  const args = [`--git-dir=${gitDir}`, 'rev-list', '--objects', ...tips];
  let text = '';
  let isOver = false;
  for await (const piece of readPieces(git, args, { signal })) {
    if (isOver) continue;
    text += piece.toString('latin1');
    isOver = text.includes(' ');
  }
  return text.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line));
}
