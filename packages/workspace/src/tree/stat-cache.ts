import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { RunFolder } from '../run-folder/run-folder.ts';

/**
 * Maps a file's status to its content, so a walk hashes only changed files. The entries describe files, not snapshots; losing them
 * costs time, never correctness. `start-scan.ts` decides which walks may read and write the cache.
 *
 * A file changed within the clock tick of its hashing keeps its status ("racily clean"). So an entry counts only when the file's
 * ctime lies before `clock`, the file system's own time just before hashing began. A folder's times change with every name added or
 * removed, so the same rule holds for its names; reading them costs as much as three `lstat` calls.
 */
export interface StatCache {
  /** Whether the path has an entry, whatever its status. */
  has(path: string): boolean;
  /** The content id of a file with this status, if known for sure. */
  get(path: string, status: fs.BigIntStats): string | undefined;
  /** The time of this content at a path, ns, if known. */
  mtimeOf(path: string, oid: string): bigint | undefined;
  set(path: string, status: FileStatus, oid: string, clock: bigint): void;
  /** The names in a folder with this status, if known for sure. Held in memory only. */
  getNames(path: string, status: fs.BigIntStats): readonly string[] | undefined;
  /** @param status taken before the names were read */
  setNames(path: string, status: fs.BigIntStats, names: readonly string[], clock: bigint): void;
  /** Drops every file missing in `paths`, and every folder not set by a walk since the last call. */
  retain(paths: ReadonlySet<string>): void;
  oids(): Iterable<string>;
  /**
   * Appends new entries to the file next to the tree. Not fsynced: torn records fail their checksum and are not read.
   * @param stored ids of content held by snapshots in the shadow repository; entries with other content are not saved
   */
  save(stored: ReadonlySet<string>): Promise<void>;
}

/** The content-dependent part of a file's status. */
export type FileStatus = Readonly<Pick<fs.BigIntStats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino' | 'dev' | 'mode'>>;

/** A file's status and content. Compared as numbers: building a string from each takes longer than the `lstat`. */
interface CachedStat extends FileStatus {
  readonly oid: string;
}

interface CachedNames extends Pick<CachedStat, 'mtimeNs' | 'ctimeNs' | 'ino' | 'dev'> {
  readonly names: readonly string[];
}

const { O_CREAT, O_WRONLY } = fs.constants;
const title = 'holdpoint-stat-cache 2\n';

export function openStatCache(folder: RunFolder): StatCache {
  const { entries, records, whole } = read(folder.statCache);
  const file = { path: folder.statCache, records, whole };
  const unsaved = new Set<string>();
  let previousNames = new Map<string, CachedNames>();
  let names = new Map<string, CachedNames>();
  return {
    has: (path) => entries.has(path),
    get: (path, status) => {
      const entry = entries.get(path);
      return entry !== undefined && isSameFile(entry, status) ? entry.oid : undefined;
    },
    mtimeOf: (path, oid) => {
      const entry = entries.get(path);
      return entry?.oid === oid ? entry.mtimeNs : undefined;
    },
    set: (path, status, oid, clock) => {
      unsaved.delete(path);
      if (status.ctimeNs >= clock) {
        entries.delete(path);
        return;
      }
      const { size, mtimeNs, ctimeNs, ino, dev, mode } = status;
      entries.set(path, { size, mtimeNs, ctimeNs, ino, dev, mode, oid });
      unsaved.add(path);
    },
    getNames: (path, status) => {
      const cached = previousNames.get(path) ?? names.get(path);
      return cached !== undefined && isSameInode(cached, status) ? cached.names : undefined;
    },
    setNames: (path, { mtimeNs, ctimeNs, ino, dev }, found, clock) => {
      if (ctimeNs < clock) names.set(path, { mtimeNs, ctimeNs, ino, dev, names: found });
    },
    retain: (paths) => {
      previousNames = names;
      names = new Map();
      for (const path of entries.keys()) {
        if (paths.has(path)) continue;
        entries.delete(path);
        unsaved.delete(path);
      }
    },
    oids: function* () {
      for (const { oid } of entries.values()) yield oid;
    },
    save: (stored) => save(file, { entries, unsaved, stored }),
  };
}

const isSameFile = (entry: CachedStat, status: fs.BigIntStats): boolean =>
  isSameInode(entry, status) && entry.size === status.size && entry.mode === status.mode;

const isSameInode = (entry: Omit<CachedNames, 'names'>, status: fs.BigIntStats): boolean =>
  entry.mtimeNs === status.mtimeNs &&
  entry.ctimeNs === status.ctimeNs &&
  entry.ino === status.ino &&
  entry.dev === status.dev;

/**
 * The file system's time in ns: the kernel stamps a write to a file. The wall clock runs ahead of the file system's time by up to a tick.
 */
export function fileSystemClock(folder: Pick<RunFolder, 'clock'>): bigint {
  // Not truncated: ext4 flushes a truncated file on close, in 0.1 ms instead of 6 µs.
  const fd = fs.openSync(folder.clock, O_WRONLY | O_CREAT, 0o600);
  try {
    fs.writeSync(fd, '.', 0);
    return fs.fstatSync(fd, { bigint: true }).mtimeNs;
  } finally {
    fs.closeSync(fd);
  }
}

interface CacheFile {
  readonly path: string;
  /** Records in the file, superseded ones included. */
  records: number;
  /** Whether all of the file could be read. */
  whole: boolean;
}

/**
 * Appends new entries: writing 10,000 files takes 12 ms, a single file 0.1 ms. Rewrites the file when most records are superseded, or after
 * a torn write. Until then records of removed paths stay: no other file will ever have the same status.
 */
async function save(
  file: CacheFile,
  input: { entries: ReadonlyMap<string, CachedStat>; unsaved: Set<string>; stored: ReadonlySet<string> },
): Promise<void> {
  const { entries, unsaved, stored } = input;
  const rewrites = !file.whole || file.records + unsaved.size > 2 * entries.size + 1000;
  const paths = rewrites ? entries.keys() : unsaved;
  const written: string[] = [];
  const target = rewrites ? `${file.path}.tmp` : file.path;
  if (rewrites) fs.writeFileSync(target, title, { mode: 0o600 });
  let body = '';
  const flush = () => {
    if (body.length > 0) fs.appendFileSync(target, batch(body), { mode: 0o600 });
    body = '';
  };
  for (const path of paths) {
    const entry = entries.get(path);
    if (entry === undefined || !stored.has(entry.oid)) continue;
    body += record(path, entry);
    written.push(path);
    if (body.length < batchLength) continue;
    flush();
    await setImmediate();
  }
  flush();
  if (rewrites) {
    fs.renameSync(target, file.path);
    file.records = 0;
    file.whole = true;
  }
  file.records += written.length;
  for (const path of written) unsaved.delete(path);
}

// Records end with NUL, the only byte forbidden in paths; the path comes last.
function record(path: string, { oid, size, mtimeNs, ctimeNs, ino, dev, mode }: CachedStat): string {
  return `${oid} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${dev} ${mode} ${path}\0`;
}

/** About 10,000 records. Written as a single batch, the records of 100,000 files took 50 MB. */
const batchLength = 1024 * 1024;

/** Records written together, with their length and checksum in front. */
function batch(body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  return Buffer.concat([Buffer.from(`${bytes.length} ${crc32(bytes)}\n`), bytes]);
}

function read(path: string): { entries: Map<string, CachedStat>; records: number; whole: boolean } {
  const entries = new Map<string, CachedStat>();
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(path);
  } catch {
    return { entries, records: 0, whole: false };
  }
  if (bytes.toString('latin1', 0, title.length) !== title) return { entries, records: 0, whole: false };
  let records = 0;
  let position = title.length;
  while (position < bytes.length) {
    const end = bytes.indexOf(0x0a, position);
    const [length = Number.NaN, checksum] = bytes
      .toString('latin1', position, Math.max(end, position))
      .split(' ')
      .map(Number);
    const body = bytes.subarray(end + 1, end + 1 + length);
    if (end === -1 || body.length !== length || crc32(body) !== checksum) return { entries, records, whole: false };
    const rows = body.toString('latin1').split('\0').slice(0, -1);
    for (const row of rows) addRow(entries, row);
    records += rows.length;
    position = end + 1 + length;
  }
  return { entries, records, whole: true };
}

function addRow(entries: Map<string, CachedStat>, row: string): void {
  const [oid = '', ...fields] = row.split(' ', 7);
  const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, ino = 0n, dev = 0n, mode = 0n] = fields.map(BigInt);
  const path = row.slice(oid.length + fields.reduce((sum, field) => sum + field.length + 1, 0) + 1);
  entries.set(path, { oid, size, mtimeNs, ctimeNs, ino, dev, mode });
}
