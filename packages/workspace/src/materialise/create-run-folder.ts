import { mkdirSync, renameSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, errnoOf, unlessMissing } from '../deps.ts';
import { removeTrees } from '../drivers/trees.ts';
import { syncPath } from '../files/index.ts';
import * as folders from '../run-folder/index.ts';

/**
 * Builds a run's folder aside and renames it into `runs/`. When two processes build the same run, one of them possibly frozen for long,
 * the first to finish wins: the other process's work is removed, and no reader ever sees an incomplete folder.
 * @param build writes everything, including the record
 * @returns the record of the folder in `runs/`
 */
export async function createRunFolder(
  deps: Deps,
  runId: string,
  build: (folder: folders.RunFolder) => Promise<folders.WorkspaceRecord>,
): Promise<{ folder: folders.RunFolder; record: folders.WorkspaceRecord }> {
  mkdirSync(folders.makingFolder(deps.dataDir), { recursive: true, mode: 0o700 });
  const aside = folders.folderAt(folders.temporaryPath(deps, runId), runId, 1);
  deps.states.drop(runId);
  try {
    const record = await build(aside);
    deps.onPoint('place.made');
    return await renameIntoRuns(deps, aside, record);
  } finally {
    // The in-memory state has paths of the folder aside.
    deps.states.drop(runId);
    await removeBuild(deps, aside.path);
    await removeAbandonedBuilds(deps);
  }
}

/** Removes the unfinished builds of dead processes of this host, for any run. A frozen process removes its own build at its resumption. */
export async function removeAbandonedBuilds(deps: Deps): Promise<void> {
  const making = folders.makingFolder(deps.dataDir);
  const names = await readdir(making).catch(unlessMissing([]));
  for (const name of names.filter(folders.belongsToDeadProcess)) await removeBuild(deps, join(making, name));
}

async function removeBuild(deps: Deps, path: string): Promise<void> {
  await removeTrees(path).catch((error: unknown) => {
    deps.logger.warn({ path, err: error }, 'failed to remove an unfinished workspace');
  });
}

async function renameIntoRuns(deps: Deps, aside: folders.RunFolder, record: folders.WorkspaceRecord) {
  for (;;) {
    const folder = folders.runFolder(deps.dataDir, aside.runId);
    const existing = folders.readRecord(folder);
    if (existing !== undefined) return { folder, record: existing };
    try {
      renameSync(aside.path, folder.path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
      // Either another process was faster, and the next round finds its record, or the folder has no record and is garbage.
      if (folders.readRecord(folder) === undefined) await removeTrees(folder.path);
      continue;
    }
    await syncPath(join(deps.dataDir, 'runs'));
    deps.onPoint('place.placed');
    return { folder: folders.runFolder(deps.dataDir, aside.runId), record };
  }
}
