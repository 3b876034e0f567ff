import { mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { syncFile } from '../files/write-durably.ts';
import { commitPack, newPackPaths } from '../git-objects/pack.ts';
import { objectsIn } from '../git-objects/pack-index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import { type RunFolder, runFolder } from '../run/run-folder.ts';
import { readRecord } from '../run/workspace-record.ts';
import { removeTemporaryFiles } from './remove-temporary-files.ts';
import { findStored, removeSuperseded } from './stored-objects.ts';

/**
 * Merges a run's packs into one: a run of 500 steps has 500 packs. Everything that a ref needs is on disk in the new pack before anything is
 * removed, so a crash or power cut at any point leaves every snapshot readable.
 *
 * Another process may be taking a snapshot at the same time. It relies on objects that refs need, which are never removed, and on its own
 * new packs, which are not in the list read at the start or are younger than a day. A reader that misses a pack looks again.
 * (With `git repack -d`, the configuration decides what is on disk before the old packs go, and loosened objects are never removed.)
 */
export async function collectObjects(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  if (readRecord(folder) === undefined) return;
  await removeTemporaryFiles(deps, folder);
  const stored = findStored(folder);
  if (stored.packs.length <= 1 && stored.loose.length === 0) return;
  const packed = await packReferenced(deps, folder);
  deps.onPoint('collect.packed');
  await removeSuperseded(deps, { folder, stored, packed });
  deps.onPoint('collect.removed');
}

/** Writes everything that refs need as one pack. Returns the ids of its objects. */
async function packReferenced(deps: Deps, folder: RunFolder): Promise<Set<string>> {
  const paths = newPackPaths(folder.shadow);
  const temporary = `${folder.shadow}/collect-${paths.name}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const settings = [...bigFileFlags, '-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m'];
    const flags = ['--all', '-q', '--delta-base-offset', '--non-empty'];
    const { stdout } = await deps.git.run(
      [...settings, `--git-dir=${folder.shadow}`, 'pack-objects', ...flags, join(temporary, 'pack')],
      { input: '' },
    );
    const written = join(temporary, `pack-${stdout.toString('latin1').trim()}`);
    await Promise.all([syncFile(`${written}.pack`), syncFile(`${written}.idx`)]);
    const packed = objectsIn(`${written}.idx`);
    if (packed.length === 0)
      throw new WorkspaceError('EWORKSPACECORRUPT', `The refs of ${folder.shadow} need no object.`);
    renameSync(`${written}.pack`, paths.tmpPack);
    renameSync(`${written}.idx`, paths.tmpIndex);
    await commitPack(paths);
    return new Set(packed);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
