import { mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { syncFile } from '../files/write-durably.ts';
import { placeForPack, putInPlace } from '../git-objects/pack.ts';
import { objectsIn } from '../git-objects/pack-index.ts';
import { type RunFolder, runFolder } from '../run/run-folder.ts';
import { readRecord } from '../run/workspace-record.ts';
import { removeLeftovers } from './remove-leftovers.ts';
import { findStored, removeOvertaken } from './stored-objects.ts';

/**
 * Brings a run's objects together in one pack: after a run of 500 steps there are 500. Everything that a ref needs is in the new pack and
 * on disk before anything goes, so that dying anywhere, a power cut included, leaves every snapshot readable.
 *
 * Another process may be taking a snapshot meanwhile. It relies on what refs need, which is never removed, and on what it has written
 * itself: packs that are not in the list made here at the start, or that are younger than a day. A reader that misses a pack looks again.
 * (`git repack -d` leaves it to the configuration what is on disk before the old packs go, and never removes what it has made loose.)
 */
export async function collectObjects(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  if (readRecord(folder) === undefined) return;
  await removeLeftovers(deps, folder);
  const stored = findStored(folder);
  if (stored.packs.length <= 1 && stored.loose.length === 0) return;
  const packed = await packNeeded(deps, folder);
  deps.onPoint('collect.packed');
  await removeOvertaken(deps, { folder, stored, packed });
  deps.onPoint('collect.removed');
}

/** Files from this size on are not searched for differences, which would hold several of them in memory. */
const largest = 4 * 1024 * 1024;

/** Writes what the refs need as one pack, and answers with the ids of the objects in it. */
async function packNeeded(deps: Deps, folder: RunFolder): Promise<Set<string>> {
  const place = placeForPack(folder.shadow);
  const temporary = `${folder.shadow}/collect-${place.name}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const settings = [`core.bigFileThreshold=${largest}`, 'pack.threads=1', 'pack.windowMemory=64m'];
    const flags = ['--all', '-q', '--delta-base-offset', '--non-empty'];
    const { stdout } = await deps.git.run(
      [
        ...settings.flatMap((setting) => ['-c', setting]),
        ...[`--git-dir=${folder.shadow}`, 'pack-objects', ...flags, join(temporary, 'pack')],
      ],
      { input: '' },
    );
    const made = join(temporary, `pack-${stdout.toString('latin1').trim()}`);
    await Promise.all([syncFile(`${made}.pack`), syncFile(`${made}.idx`)]);
    const packed = objectsIn(`${made}.idx`);
    if (packed.length === 0) throw new WorkspaceError('EWORKSPACECORRUPT', `${folder.shadow} has refs to nothing.`);
    renameSync(`${made}.pack`, place.tmpPack);
    renameSync(`${made}.idx`, place.tmpIndex);
    await putInPlace(place);
    return new Set(packed);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
