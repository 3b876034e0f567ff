import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unlessMissing } from '../../errors.ts';
import { syncOpen, syncPath, writeAll } from '../../files/index.ts';
import type { SnapshotId } from '../../port/workspaces.ts';

/*
 * A snapshot has a ref (`refs/snapshots/<id>`) or a line in the file `snapshots`. A fold moves many ids there: ten thousand refs would be
 * as many files. git does not read the list, so callers with questions about everything pass git the ids.
 */

export const snapshotRef = (id: SnapshotId): string => `refs/snapshots/${id}`;

const listOf = (shadow: string): string => join(shadow, 'snapshots');

/** The most recently read lists. A list only grows. */
const known = new Map<string, { identity: string; ids: ReadonlySet<SnapshotId> }>();
const mostKnown = 64;

/** The ids in the list; empty when there is none. A repeated read costs a stat. */
export function listedSnapshots(shadow: string): ReadonlySet<SnapshotId> {
  const path = listOf(shadow);
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return new Set();
  const identity = `${status.dev} ${status.ino} ${status.size} ${status.mtimeNs}`;
  const kept = known.get(path);
  if (kept?.identity === identity) return kept.ids;
  // A power cut may have torn the last lines.
  const lines = readFileSync(path, 'latin1').split('\n');
  const ids = new Set(lines.filter(isId));
  known.delete(path);
  known.set(path, { identity, ids });
  for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest);
  return ids;
}

/** Adds ids to the list; on disk at the return. Several processes may add at once. */
export async function listSnapshots(shadow: string, ids: readonly SnapshotId[]): Promise<void> {
  const isNew = statSync(listOf(shadow), { throwIfNoEntry: false }) === undefined;
  const fd = openSync(listOf(shadow), 'a', 0o600);
  try {
    // Begins with a line feed: the bytes before may be torn.
    writeAll(fd, Buffer.from(`\n${ids.join('\n')}\n`));
    await syncOpen(fd);
  } finally {
    closeSync(fd);
  }
  if (isNew) await syncPath(shadow);
}

export const isSnapshot = (shadow: string, id: SnapshotId): boolean =>
  // A fold lists an id before removing the ref, so the list is read last.
  isId(id) && (existsSync(join(shadow, snapshotRef(id))) || listedSnapshots(shadow).has(id));

/** Every snapshot of a run. */
export function allSnapshots(shadow: string): SnapshotId[] {
  let refs: string[] = [];
  try {
    refs = readdirSync(join(shadow, 'refs', 'snapshots')).filter(isId);
  } catch (error) {
    unlessMissing(undefined)(error);
  }
  return [...new Set([...refs, ...listedSnapshots(shadow)])];
}

const isId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
