import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { RunFolder } from '../run/run-folder.ts';

/**
 * Remembers which content a file had when its status was last seen, so that a walk hashes only what changed. It holds facts about
 * files, not about snapshots; losing it costs time, never correctness.
 *
 * A file changed within the same clock tick as it was hashed keeps its status ("racily clean"), so an entry counts only when the
 * file's ctime lies before `clock`, the file system's own time just before hashing began.
 */
export interface StatCache {
  /** The content id of a file with this status, if known for sure. */
  lookup(path: string, status: BigIntStats): string | undefined;
  learn(path: string, status: BigIntStats, oid: string, clock: bigint): void;
  /** Drops every path that is not in `paths`. */
  keepOnly(paths: ReadonlySet<string>): void;
  oids(): Iterable<string>;
  /**
   * Writes the cache beside the tree. Not fsynced: a torn file fails its checksum and counts as empty.
   * @param stored ids of content that is on disk in the shadow repository; facts about anything else are left out
   */
  save(stored: ReadonlySet<string>): void;
}

interface Fact {
  signature: string;
  oid: string;
}

const title = 'holdpoint-stat-cache 1';

export function openStatCache(folder: RunFolder): StatCache {
  const facts = read(folder.statCache);
  return {
    lookup: (path, status) => {
      const fact = facts.get(path);
      return fact !== undefined && fact.signature === signatureOf(status) ? fact.oid : undefined;
    },
    learn: (path, status, oid, clock) => {
      if (status.ctimeNs < clock) facts.set(path, { signature: signatureOf(status), oid });
      else facts.delete(path);
    },
    keepOnly: (paths) => {
      for (const path of facts.keys()) if (!paths.has(path)) facts.delete(path);
    },
    oids: function* () {
      for (const fact of facts.values()) yield fact.oid;
    },
    save: (stored) => save(folder.statCache, facts, stored),
  };
}

/** The file system's time in ns: the kernel stamps a write to a file of ours. The wall clock runs ahead of it by up to a tick. */
export function fileSystemClock(folder: RunFolder): bigint {
  const fd = openSync(folder.clock, 'w', 0o600);
  try {
    writeSync(fd, '.');
    return fstatSync(fd, { bigint: true }).mtimeNs;
  } finally {
    closeSync(fd);
  }
}

function signatureOf(status: BigIntStats): string {
  return `${status.size} ${status.mtimeNs} ${status.ctimeNs} ${status.ino} ${status.dev} ${status.mode}`;
}

// Records end with NUL, the one byte that no path contains; fields of a record are separated by a tab, the path comes last.
function save(path: string, facts: ReadonlyMap<string, Fact>, stored: ReadonlySet<string>): void {
  let body = '';
  for (const [name, fact] of facts) {
    if (stored.has(fact.oid)) body += `${fact.oid}\t${fact.signature}\t${name}\0`;
  }
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, `${title} ${checksum(body)}\n${body}`, { encoding: 'latin1', mode: 0o600 });
  renameSync(temporary, path);
}

function read(path: string): Map<string, Fact> {
  const facts = new Map<string, Fact>();
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return facts;
  }
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (text.slice(0, end) !== `${title} ${checksum(body)}`) return facts;
  for (const record of body.split('\0').slice(0, -1)) {
    const [oid = '', signature = ''] = record.split('\t', 2);
    facts.set(record.slice(oid.length + signature.length + 2), { oid, signature });
  }
  return facts;
}

function checksum(body: string): string {
  return createHash('sha256').update(body, 'latin1').digest('hex');
}
