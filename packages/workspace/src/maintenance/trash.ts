import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { recoverPublish } from '../publish/directory/publish-directory.ts';
import { runFolder } from '../run/run-folder.ts';
import { readRecord } from '../run/workspace-record.ts';

/** Where the folders of unknown runs wait for a person who misses them. `<run>~<milliseconds since 1970>` */
const trashFolder = (dataDir: string): string => join(dataDir, 'trash');

/**
 * Moves the folder of an unknown run away as a whole. A publish that was interrupted is finished first, so that the source is whole.
 *
 * @returns false when that cannot be done: the folder stays, and the others are not kept waiting
 */
export async function moveToTrash(deps: Deps, runId: string): Promise<boolean> {
  const folder = runFolder(deps.dataDir, runId);
  const trash = trashFolder(deps.dataDir);
  try {
    mkdirSync(trash, { recursive: true, mode: 0o700 });
    const record = readRecord(folder);
    if (record !== undefined) await recoverPublish(deps, { folder, record });
    deps.states.drop(runId);
    renameSync(folder.path, join(trash, `${runId}~${deps.now()}`));
    await syncFolder(join(deps.dataDir, 'runs'));
  } catch (error) {
    if (!(error instanceof WorkspaceError) && errnoOf(error) === undefined) throw error;
    deps.logger.warn({ runId, err: error }, 'the folder of an unknown run could not be moved to the trash');
    return false;
  }
  deps.logger.warn({ runId, trash }, 'the folder of a run that Redis does not know was moved to the trash');
  return true;
}

/** Removes what has been in the trash for longer than `limits.trashMs`. */
export async function emptyTrash(deps: Deps): Promise<void> {
  const trash = trashFolder(deps.dataDir);
  const names = await readdir(trash).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    const path = join(trash, name);
    // Both have to be old: the name is of the wall clock then, which may have been wrong.
    const movedAt = Math.max(Number(name.split('~')[1] ?? Number.NaN), (await lstat(path)).ctimeMs);
    if (deps.now() - movedAt > deps.limits.trashMs) await removeFolder(path);
  }
}
