import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, errnoOf } from './deps.ts';
import { removeFolder, syncFolder } from './files/index.ts';
import { recoverPublish } from './publish/directory/publish-directory.ts';
import { removePublishRef } from './publish/git/publish-git.ts';
import { readRecord, runFolder } from './run/index.ts';

/** Holds run folders while they are removed. */
export const discardingFolder = (dataDir: string): string => join(dataDir, 'discarding');

/** Removes the run's tree and shadow repository. One rename moves the whole folder away; a call that dies after it is finished by the next. */
export async function discard(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  const discarding = discardingFolder(deps.dataDir);
  const moved = join(discarding, runId);
  mkdirSync(discarding, { recursive: true, mode: 0o700 });
  await removeFolder(moved);
  const record = readRecord(folder);
  // The journal is removed too, and only the journal can complete a half-published source.
  if (record !== undefined) {
    await recoverPublish(deps, { folder, record });
    await removePublishRef(deps, { folder, record });
  }
  deps.states.drop(runId);
  try {
    renameSync(folder.path, moved);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  await syncFolder(join(deps.dataDir, 'runs'));
  deps.onPoint('discard.moved');
  await removeFolder(moved);
}
