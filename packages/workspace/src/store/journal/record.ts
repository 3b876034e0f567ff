import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { errnoOf, unlessMissing } from '../../errors.ts';
import { syncOpen, syncPath, writeAll } from '../../files/index.ts';
import type { SnapshotId } from '../../port/workspaces.ts';
import { layOut, type PackedObject } from '../objects/index.ts';

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
  const status = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  if (status === undefined) return new Set();
  const identity = `${status.dev} ${status.ino} ${status.size} ${status.mtimeNs}`;
  const kept = known.get(path);
  if (kept?.identity === identity) return kept.ids;
  // A power cut may have torn the last lines.
  const lines = fs.readFileSync(path, 'latin1').split('\n');
  const ids = new Set(lines.filter(isId));
  known.delete(path);
  known.set(path, { identity, ids });
  for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest);
  return ids;
}

/** Adds ids to the list; on disk at the return. Several processes may add at once. */
export async function listSnapshots(shadow: string, ids: readonly SnapshotId[]): Promise<void> {
  const isNew = fs.statSync(listOf(shadow), { throwIfNoEntry: false }) === undefined;
  const fd = fs.openSync(listOf(shadow), 'a', 0o600);
  try {
    // Begins with a line feed: the bytes before may be torn.
    writeAll(fd, Buffer.from(`\n${ids.join('\n')}\n`));
    await syncOpen(fd);
  } finally {
    fs.closeSync(fd);
  }
  if (isNew) await syncPath(shadow);
}

export const isSnapshot = (shadow: string, id: SnapshotId): boolean =>
  // A fold lists an id before removing the ref, so the list is read last.
  isId(id) && (fs.existsSync(join(shadow, snapshotRef(id))) || listedSnapshots(shadow).has(id));

/** Every snapshot of a run. */
export function allSnapshots(shadow: string): SnapshotId[] {
  let refs: string[] = [];
  try {
    refs = fs.readdirSync(join(shadow, 'refs', 'snapshots')).filter(isId);
  } catch (error) {
    unlessMissing(undefined)(error);
  }
  return [...new Set([...refs, ...listedSnapshots(shadow)])];
}

const isId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

/** A snapshot and its added objects. */
export interface JournalRecord {
  readonly id: SnapshotId;
  readonly objects: readonly PackedObject[];
}

/** Objects are `[id, bytes, CRC]`, in the order of their bytes. */
const headSchema = z.strictObject({ id: z.string(), objects: z.array(z.tuple([z.string(), z.int(), z.int()])) });

/** `<CRC> <bytes of the head> <bytes of the body>`, a line feed, the head as JSON, and the objects as they lie in a pack. */
export function encodeRecord({ id, objects }: JournalRecord): Buffer {
  const rows = objects.map(({ oid, bytes, crc }) => [oid, bytes.length, crc]);
  const head = Buffer.from(JSON.stringify({ id, objects: rows }));
  const content = Buffer.concat([head, ...objects.map(({ bytes }) => bytes)]);
  return Buffer.concat([Buffer.from(`${crc32(content)} ${head.length} ${content.length - head.length}\n`), content]);
}

/** The records of a journal up to the first torn record. No writer acknowledged a torn record. None when the journal was removed. */
export function readRecords(path: string): JournalRecord[] {
  let rest: Buffer;
  try {
    rest = fs.readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const records: JournalRecord[] = [];
  while (rest.length > 0) {
    const end = rest.indexOf(0x0a);
    const numbers = /^(\d+) (\d+) (\d+)$/.exec(rest.toString('latin1', 0, Math.max(end, 0)));
    if (numbers === null) break;
    const [, crc, headBytes, bodyBytes] = numbers.map(Number) as [number, number, number, number];
    const content = rest.subarray(end + 1, end + 1 + headBytes + bodyBytes);
    if (content.length < headBytes + bodyBytes || crc32(content) !== crc) break;
    records.push(decode(content.subarray(0, headBytes), content.subarray(headBytes)));
    rest = rest.subarray(end + 1 + content.length);
  }
  return records;
}

function decode(head: Buffer, body: Buffer): JournalRecord {
  const { id, objects } = headSchema.parse(JSON.parse(head.toString('utf8')));
  let at = 0;
  return {
    id,
    objects: objects.map(([oid, length, crc]) => {
      at += length;
      return { oid, crc, bytes: body.subarray(at - length, at) };
    }),
  };
}

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
  fs.writeFileSync(`${path}.pack`, pack, { mode: 0o444 });
  replace(`${path}.idx`, index, join(packsOf(shadow), `tmp_idx_${randomBytes(10).toString('hex')}`), 0o444);
}

export function showRef(shadow: string, { id }: JournalRecord): void {
  const path = join(shadow, snapshotRef(id));
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  if (!fs.existsSync(dirname(path))) fs.mkdirSync(dirname(path), { recursive: true });
  replace(path, `${id}\n`, temporary, 0o644);
}

function replace(path: string, content: string | Uint8Array, temporary: string, mode: number): void {
  try {
    fs.writeFileSync(temporary, content, { mode });
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes the shown files of snapshots already on disk in another form. The removal is on disk at the return. */
export async function hideSnapshots(shadow: string, ids: ReadonlySet<SnapshotId>): Promise<void> {
  const packs = packsOf(shadow);
  const shown = fs.readdirSync(packs).filter((name) => ids.has(/^snapshot-([0-9a-f]{40})-/.exec(name)?.[1] ?? ''));
  // The index first: without an index git ignores the pack.
  for (const kind of ['.idx', '.pack']) {
    for (const name of shown.filter((one) => one.endsWith(kind))) fs.rmSync(join(packs, name), { force: true });
  }
  for (const id of ids) fs.rmSync(join(shadow, snapshotRef(id)), { force: true });
  await syncPath(packs);
  await syncPath(join(shadow, 'refs', 'snapshots'));
}
