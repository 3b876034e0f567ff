import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { errnoOf, unlessMissing, WorkspaceError } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { recoverPublish } from '../publish/directory/publish-directory.ts';
import { runFolder } from '../run/run-folder.ts';
import { readRecord } from '../run/workspace-record.ts';

/** Holds the folders of unknown runs, so that a person can recover them: `<run>~<milliseconds since 1970>`. */
const trashFolder = (dataDir: string): string => join(dataDir, 'trash');

/**
 * Moves the folder of an unknown run to the trash. Finishes an interrupted publish first, so that the source is complete.
 *
 * @returns false when this fails: the folder stays, and other folders are still processed
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
    deps.logger.warn({ runId, err: error }, 'failed to move the folder of an unknown run to the trash');
    return false;
  }
  deps.logger.warn({ runId, trash }, 'moved the folder of a run that Redis does not know to the trash');
  return true;
}

/** Removes folders that have been in the trash for longer than `limits.trashMs`. */
export async function emptyTrash(deps: Deps): Promise<void> {
  const trash = trashFolder(deps.dataDir);
  const names = await readdir(trash).catch(unlessMissing([]));
  for (const name of names) {
    const path = join(trash, name);
    // Both must be old: the name contains the time of the wall clock, which may have been wrong.
    const movedAt = Math.max(Number(name.split('~')[1] ?? Number.NaN), (await lstat(path)).ctimeMs);
    if (deps.now() - movedAt > deps.limits.trashMs) await removeFolder(path);
  }
}
