import type { BigIntStats } from 'node:fs';
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { RunFolder } from '../run/run-folder.ts';

/**
 * Remembers which content a file had when its status was last seen, so that a walk hashes only what changed. It holds facts about
 * files, not about snapshots; losing it costs time, never correctness. Who may learn, and when, `trusted-facts.ts` says.
 *
 * A file changed within the same clock tick as it was hashed keeps its status ("racily clean"), so an entry counts only when the
 * file's ctime lies before `clock`, the file system's own time just before hashing began. A folder's times change with every name that
 * comes or goes, so the same holds of the names in it; reading them takes as long as three looks at a status.
 */
export interface StatCache {
  /** Whether there is a fact about the path, of whatever status. */
  knows(path: string): boolean;
  /** The content id of a file with this status, if known for sure. */
  lookup(path: string, status: BigIntStats): string | undefined;
  learn(path: string, status: BigIntStats, oid: string, clock: bigint): void;
  /** The names in a folder with this status, if known for sure. Held in memory only. */
  namesIn(path: string, status: BigIntStats): readonly string[] | undefined;
  /** @param status of before the names were read */
  learnNames(path: string, status: BigIntStats, names: readonly string[], clock: bigint): void;
  /** Drops every file that is not in `paths`, and every folder that nobody asked for since this was called last. */
  keepOnly(paths: ReadonlySet<string>): void;
  oids(): Iterable<string>;
  /**
   * Brings what was learned to the file beside the tree. Not fsynced: torn records fail their checksum and are not read.
   * @param stored ids of content that snapshots hold in the shadow repository; facts about anything else are left out
   */
  save(stored: ReadonlySet<string>): Promise<void>;
}

/** A file's status and content. Compared as numbers: making a text of each takes longer than the `lstat`. */
interface Fact {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly mode: bigint;
  readonly oid: string;
}

/** What a folder holds. */
interface Listing extends Pick<Fact, 'mtimeNs' | 'ctimeNs' | 'ino' | 'dev'> {
  readonly names: readonly string[];
}

const { O_CREAT, O_WRONLY } = constants;
const title = 'holdpoint-stat-cache 2\n';

export function openStatCache(folder: RunFolder): StatCache {
  const { facts, records, whole } = read(folder.statCache);
  const file = { path: folder.statCache, records, whole };
  const unsaved = new Set<string>();
  let listings = new Map<string, Listing>();
  let listed = new Map<string, Listing>();
  return {
    knows: (path) => facts.has(path),
    lookup: (path, status) => {
      const fact = facts.get(path);
      return fact !== undefined && isOf(fact, status) ? fact.oid : undefined;
    },
    learn: (path, status, oid, clock) => {
      unsaved.delete(path);
      if (status.ctimeNs >= clock) {
        facts.delete(path);
        return;
      }
      const { size, mtimeNs, ctimeNs, ino, dev, mode } = status;
      facts.set(path, { size, mtimeNs, ctimeNs, ino, dev, mode, oid });
      unsaved.add(path);
    },
    namesIn: (path, status) => {
      const listing = listings.get(path) ?? listed.get(path);
      return listing !== undefined && isOfFolder(listing, status) ? listing.names : undefined;
    },
    learnNames: (path, status, names, clock) => {
      const { mtimeNs, ctimeNs, ino, dev } = status;
      if (ctimeNs < clock) listed.set(path, { mtimeNs, ctimeNs, ino, dev, names });
    },
    keepOnly: (paths) => {
      listings = listed;
      listed = new Map();
      for (const path of facts.keys()) {
        if (paths.has(path)) continue;
        facts.delete(path);
        unsaved.delete(path);
      }
    },
    oids: function* () {
      for (const fact of facts.values()) yield fact.oid;
    },
    save: (stored) => save(file, { facts, unsaved, stored }),
  };
}

function isOf(fact: Fact, status: BigIntStats): boolean {
  return (
    fact.mtimeNs === status.mtimeNs &&
    fact.ctimeNs === status.ctimeNs &&
    fact.size === status.size &&
    fact.ino === status.ino &&
    fact.mode === status.mode &&
    fact.dev === status.dev
  );
}

function isOfFolder(listing: Listing, status: BigIntStats): boolean {
  return (
    listing.mtimeNs === status.mtimeNs &&
    listing.ctimeNs === status.ctimeNs &&
    listing.ino === status.ino &&
    listing.dev === status.dev
  );
}

/** The file system's time in ns: the kernel stamps a write to a file of ours. The wall clock runs ahead of it by up to a tick. */
export function fileSystemClock(folder: Pick<RunFolder, 'clock'>): bigint {
  // Not truncated: ext4 writes a file out when it is closed after that, which takes 0.1 ms instead of 6 µs.
  const fd = openSync(folder.clock, O_WRONLY | O_CREAT, 0o600);
  try {
    writeSync(fd, '.', 0);
    return fstatSync(fd, { bigint: true }).mtimeNs;
  } finally {
    closeSync(fd);
  }
}

interface CacheFile {
  readonly path: string;
  /** Records in the file, overtaken ones included. */
  records: number;
  /** Whether all of the file could be read. */
  whole: boolean;
}

/**
 * What is new is appended: all of 10,000 files takes 12 ms to write, one file 0.1 ms. The file is written anew when most of it is
 * overtaken, or when it was torn. Facts about paths that are gone stay in it until then: no other file will ever have that status.
 */
async function save(
  file: CacheFile,
  input: { facts: ReadonlyMap<string, Fact>; unsaved: Set<string>; stored: ReadonlySet<string> },
): Promise<void> {
  const { facts, unsaved, stored } = input;
  const anew = !file.whole || file.records + unsaved.size > 2 * facts.size + 1000;
  const paths = anew ? facts.keys() : unsaved;
  const written: string[] = [];
  const target = anew ? `${file.path}.tmp` : file.path;
  if (anew) writeFileSync(target, title, { mode: 0o600 });
  let body = '';
  const flush = () => {
    if (body.length > 0) appendFileSync(target, batch(body), { mode: 0o600 });
    body = '';
  };
  for (const path of paths) {
    const fact = facts.get(path);
    if (fact === undefined || !stored.has(fact.oid)) continue;
    body += record(path, fact);
    written.push(path);
    if (body.length < batchLength) continue;
    flush();
    await breathe();
  }
  flush();
  if (anew) {
    renameSync(target, file.path);
    file.records = 0;
    file.whole = true;
  }
  file.records += written.length;
  for (const path of written) unsaved.delete(path);
}

// Records end with NUL, the one byte that no path contains; the path comes last.
function record(path: string, fact: Fact): string {
  const { size, mtimeNs, ctimeNs, ino, dev, mode } = fact;
  return `${fact.oid} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${dev} ${mode} ${path}\0`;
}

/** About 10,000 records. In one piece, those of 100,000 files took 50 MB. */
const batchLength = 1024 * 1024;

/** Records that are written at once, with their length and checksum in front. */
function batch(body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  return Buffer.concat([Buffer.from(`${bytes.length} ${crc32(bytes)}\n`), bytes]);
}

function read(path: string): { facts: Map<string, Fact>; records: number; whole: boolean } {
  const facts = new Map<string, Fact>();
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return { facts, records: 0, whole: false };
  }
  if (bytes.toString('latin1', 0, title.length) !== title) return { facts, records: 0, whole: false };
  let records = 0;
  let position = title.length;
  while (position < bytes.length) {
    const end = bytes.indexOf(0x0a, position);
    const [length = Number.NaN, checksum] = bytes
      .toString('latin1', position, Math.max(end, position))
      .split(' ')
      .map(Number);
    const body = bytes.subarray(end + 1, end + 1 + length);
    if (end === -1 || body.length !== length || crc32(body) !== checksum) return { facts, records, whole: false };
    const rows = body.toString('latin1').split('\0').slice(0, -1);
    for (const row of rows) learnRow(facts, row);
    records += rows.length;
    position = end + 1 + length;
  }
  return { facts, records, whole: true };
}

function learnRow(facts: Map<string, Fact>, row: string): void {
  const [oid = '', ...fields] = row.split(' ', 7);
  const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, ino = 0n, dev = 0n, mode = 0n] = fields.map(BigInt);
  const path = row.slice(oid.length + fields.reduce((sum, field) => sum + field.length + 1, 0) + 1);
  facts.set(path, { oid, size, mtimeNs, ctimeNs, ino, dev, mode });
}
