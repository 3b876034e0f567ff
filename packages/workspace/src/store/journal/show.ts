import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncPath } from '../../files/index.ts';
import type { SnapshotId } from '../../port/workspaces.ts';
import { layOut } from '../objects/index.ts';
import type { JournalRecord } from './record.ts';
import { snapshotRef } from './snapshot-list.ts';

/*
 * git reads no journal. So the objects and the ref of a record also get files without a sync: the files are made after the record is on
 * disk, and a fold removes them before the journal. The names of the packs have a prefix of their own; all other packs are on disk.
 */

const prefixOf = (id: SnapshotId): string => `snapshot-${id}-`;
const packsOf = (shadow: string): string => join(shadow, 'objects', 'pack');

/** Makes the objects of a record visible to git. */
export function showObjects(shadow: string, { id, objects }: JournalRecord): void {
  if (objects.length === 0) return;
  const { pack, index } = layOut(objects);
  // Random: a second writer of the same snapshot may know other objects.
  const path = join(packsOf(shadow), prefixOf(id) + randomBytes(4).toString('hex'));
  // git looks for the index to find a pack.
  writeFileSync(`${path}.pack`, pack, { mode: 0o444 });
  replace(`${path}.idx`, index, join(packsOf(shadow), `tmp_idx_${randomBytes(10).toString('hex')}`), 0o444);
}

export function showRef(shadow: string, { id }: JournalRecord): void {
  const path = join(shadow, snapshotRef(id));
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
  replace(path, `${id}\n`, temporary, 0o644);
}

function replace(path: string, content: string | Uint8Array, temporary: string, mode: number): void {
  try {
    writeFileSync(temporary, content, { mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes the shown files of snapshots already on disk in another form. The removal is on disk at the return. */
export async function hideSnapshots(shadow: string, ids: ReadonlySet<SnapshotId>): Promise<void> {
  const packs = packsOf(shadow);
  const shown = readdirSync(packs).filter((name) => ids.has(/^snapshot-([0-9a-f]{40})-/.exec(name)?.[1] ?? ''));
  // The index first: without an index git ignores the pack.
  for (const kind of ['.idx', '.pack']) {
    for (const name of shown.filter((one) => one.endsWith(kind))) rmSync(join(packs, name), { force: true });
  }
  for (const id of ids) rmSync(join(shadow, snapshotRef(id)), { force: true });
  await syncPath(packs);
  await syncPath(join(shadow, 'refs', 'snapshots'));
}
