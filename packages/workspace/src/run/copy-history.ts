import { type Deps, errnoOf, type SnapshotId, WorkspaceError } from '../deps.ts';
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
  const list = (...args: string[]) =>
    deps.git.run([`--git-dir=${folder.shadow}`, 'rev-list', ...args, '--end-of-options', snapshot, origin.base], {
      signal,
    });
  await linkObjects(from.shadow, folder.shadow);
  deps.onPoint('fork.linked');
  if (origin.base_commit !== null) await writeRef(folder.shadow, 'refs/holdpoint/base', origin.base_commit);
  const base = origin.base_commit === null ? [] : [origin.base_commit];
  const [{ stdout }] = await Promise.all([list(), list('--objects', '--quiet', ...base)]);
  const reached = stdout.toString('latin1').split('\n');
  await listSnapshots(
    folder.shadow,
    reached.filter((id) => isSnapshot(from.shadow, id)),
  );
  assertSnapshot(folder, snapshot);
  assertSnapshot(folder, origin.base);
}
