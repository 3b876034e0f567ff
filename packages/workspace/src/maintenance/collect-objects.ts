import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, unlessMissing, WorkspaceError } from '../deps.ts';
import { syncPath } from '../files/index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import { dropPreviews } from '../run/preview.ts';
import { type RunFolder, readRecord, runFolder } from '../run-folder/index.ts';
import { foldAll, listedSnapshots } from '../store/journal/index.ts';
import { commitPack, newPackPaths, objectsIn } from '../store/objects/index.ts';
import { findStored, removeSuperseded } from './stored-objects.ts';

/**
 * Merges a run's packs into a single pack: a run of 5,000 steps has 80 packs. All objects of every snapshot are on disk in the new pack before
 * anything is removed, so a crash or power cut at any point leaves every snapshot readable.
 *
 * Another process may be taking a snapshot at the same time. Such a process relies on objects needed by refs, never removed, and on its own new
 * packs, missing in the list read at the start or younger than a day. A reader without its pack looks again.
 * (With `git repack -d`, the configuration decides which files are on disk before the old packs go, and loosened objects are never removed.)
 */
export async function collectObjects(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  if (readRecord(folder) === undefined) return;
  await removeTemporaryFiles(deps, folder);
  // The run has ended, so no approval shows a preview.
  await dropPreviews(deps, { runId });
  await foldAll(deps, folder.shadow);
  const stored = findStored(folder);
  if (stored.packs.length <= 1 && stored.loose.length === 0) return;
  const packed = await packReferenced(deps, folder);
  deps.onPoint('collect.packed');
  await removeSuperseded(deps, { folder, stored, packed });
  deps.onPoint('collect.removed');
}

/** Writes all objects needed by refs and the list of snapshots as a single pack. Returns the ids of its objects. */
async function packReferenced(deps: Deps, folder: RunFolder): Promise<Set<string>> {
  const paths = newPackPaths(folder.shadow);
  const temporary = `${folder.shadow}/collect-${paths.name}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const settings = [...bigFileFlags, '-c', 'pack.threads=1', '-c', 'pack.windowMemory=64m'];
    // Packs shared by other runs are left alone.
    const flags = ['--revs', '--all', '-q', '--delta-base-offset', '--non-empty', '--honor-pack-keep'];
    const { stdout } = await deps.git.run(
      [...settings, `--git-dir=${folder.shadow}`, 'pack-objects', ...flags, join(temporary, 'pack')],
      { input: [...listedSnapshots(folder.shadow), ''].join('\n') },
    );
    const written = join(temporary, `pack-${stdout.toString('latin1').trim()}`);
    await Promise.all([syncPath(`${written}.pack`), syncPath(`${written}.idx`)]);
    const packed = objectsIn(`${written}.idx`);
    if (packed.length === 0)
      throw new WorkspaceError(
        'EWORKSPACECORRUPT',
        `The refs of ${folder.shadow} name no commit, so all of its objects would be removed. Nothing was removed.`,
      );
    renameSync(`${written}.pack`, paths.tmpPack);
    renameSync(`${written}.idx`, paths.tmpIndex);
    await commitPack(paths);
    return new Set(packed);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A file in use by a writer is younger. */
const idleMs = 3_600_000;

/** Removes temporary files of dead writers of objects, refs or packs. */
async function removeTemporaryFiles(deps: Pick<Deps, 'now'>, folder: RunFolder): Promise<void> {
  for (const below of ['.', 'info', 'objects', 'refs']) {
    await visit(deps, join(folder.shadow, below), below === 'objects' || below === 'refs');
  }
}

const isTemporary = (name: string): boolean => /^(tmp_|collect-)|^\..*\.tmp$|\.lock$/.test(name);

async function visit(deps: Pick<Deps, 'now'>, path: string, deep: boolean): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(unlessMissing([]));
  for (const entry of entries) {
    const below = join(path, entry.name);
    if (isTemporary(entry.name)) {
      const status = await lstat(below).catch(unlessMissing(undefined));
      if (status !== undefined && deps.now() - status.mtimeMs > idleMs)
        await rm(below, { recursive: true, force: true });
    } else if (deep && entry.isDirectory()) await visit(deps, below, deep);
  }
}
