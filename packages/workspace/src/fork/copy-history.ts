import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { syncFolder } from '../files/write-durably.ts';
import { writeRef } from '../git-objects/ref-file.ts';
import type { SnapshotId } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { requireRecord, type WorkspaceRecord } from '../run/workspace-record.ts';
import { assertSnapshot, snapshotRef } from '../tree/load-snapshot.ts';
import { linkFile, linkObjects } from './link-objects.ts';

interface Input {
  folder: RunFolder;
  from: RunFolder;
  origin: WorkspaceRecord;
  snapshot: SnapshotId;
  signal?: AbortSignal | undefined;
}

/** How often a collection of the other repository may come in between. */
const mostRounds = 10;

/**
 * Takes over a snapshot and every snapshot before it: objects first, then, once git has found all of them, the refs. Only files are taken
 * from the other run, and git looks at the new repository alone, so that the other run can be written, collected or discarded meanwhile.
 */
export async function copyHistory(deps: Deps, input: Input): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await takeOnce(deps, input);
    } catch (error) {
      input.signal?.throwIfAborted();
      requireRecord(input.from);
      assertSnapshot(input.from, input.snapshot);
      const mayPass = errnoOf(error) === 'ENOENT' || (error instanceof WorkspaceError && error.code === 'EGITFAILED');
      if (!mayPass || round === mostRounds) throw error;
    }
  }
}

async function takeOnce(deps: Deps, { folder, from, origin, snapshot, signal }: Input): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  const list = (...args: string[]) =>
    deps.git.run(
      [`--git-dir=${folder.shadow}`, 'rev-list', ...args, '--end-of-options', snapshot, origin.base],
      options,
    );
  await linkObjects(from.shadow, folder.shadow);
  deps.onPoint('fork.linked');
  if (origin.base_commit !== null) await writeRef(folder.shadow, 'refs/holdpoint/base', origin.base_commit);
  await list('--objects', '--quiet', ...(origin.base_commit === null ? [] : [origin.base_commit]));
  const { stdout } = await list();
  // Ref files are replaced as a whole and never written to, so they can be shared like objects.
  for (const id of stdout.toString('latin1').split('\n')) {
    const ref = snapshotRef(id);
    if (id !== '' && existsSync(join(from.shadow, ref)))
      await linkFile(join(from.shadow, ref), join(folder.shadow, ref));
  }
  assertSnapshot(folder, snapshot);
  assertSnapshot(folder, origin.base);
  for (const path of ['refs/snapshots', 'refs']) await syncFolder(join(folder.shadow, path));
}
