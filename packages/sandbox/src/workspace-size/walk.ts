import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as yieldToLoop } from 'node:timers/promises';

/** About 1 ms of work. Then the worker's event loop continues. */
const sliceSize = 200;
/** A tree with more entries has an unknown size. Walking this many takes some seconds. */
const maxEntries = 2_000_000;
/** Minimum size of an entry: a block, or for an empty file its share of the inode table. */
const minEntryBytes = 4096n;

export interface Walked {
  /** A value above `enough` is a lower bound. Infinity: too many entries, or too deep. */
  bytes: number;
  /** This user may not read a directory; its content is not counted. */
  unreadable: boolean;
  /** Number of names read. */
  entries: number;
}

/**
 * Adds up the disk use of a tree until the sum is more than `enough`. A file with several names counts once. Mounted file systems do not
 * count. The walk follows no links and opens only directories. Changes during the walk only make the sum inaccurate.
 */
export async function walk(root: string, enough: number): Promise<Walked> {
  let unreadable = false;
  const onDenied = () => {
    unreadable = true;
  };
  const top = stat(() => lstatSync(root, { bigint: true }), onDenied);
  if (!top) return { bytes: 0, unreadable, entries: 0 };
  const seen = new Set<bigint>();
  const waiting: (string | Anchor)[] = [root];
  const anchors = new Set<number>();
  let bytes = diskBytes(top);
  let visited = 0;
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next !== 'string') {
        closeSync(next.descriptor);
        anchors.delete(next.descriptor);
        continue;
      }
      let directory = next;
      if (directory.length > maxPathLength) {
        const descriptor = open(directory, onDenied);
        if (descriptor === null) continue;
        anchors.add(descriptor);
        if (anchors.size > maxAnchors) return { bytes: Number.POSITIVE_INFINITY, unreadable, entries: visited };
        // The stack returns to the anchor after the walk of all entries below.
        waiting.push({ descriptor });
        directory = `/proc/self/fd/${descriptor}`;
      }
      for (const name of list(directory, onDenied)) {
        if (++visited % sliceSize === 0) await yieldToLoop();
        if (visited > maxEntries) return { bytes: Number.POSITIVE_INFINITY, unreadable, entries: visited };
        const path = join(directory, name);
        const entry = stat(() => lstatSync(path, { bigint: true }), onDenied);
        if (!entry || entry.dev !== top.dev) continue;
        if (entry.isDirectory()) waiting.push(path);
        else if (entry.nlink > 1n) {
          if (seen.has(entry.ino)) continue;
          seen.add(entry.ino);
        }
        bytes += diskBytes(entry);
        if (bytes > enough) return { bytes: Number(bytes), unreadable, entries: visited };
      }
    }
    return { bytes: Number(bytes), unreadable, entries: visited };
  } finally {
    for (const descriptor of anchors) closeSync(descriptor);
  }
}

/** An open directory, to shorten the paths below: the kernel refuses paths over 4096 bytes. */
interface Anchor {
  descriptor: number;
}

/** In characters of up to 3 bytes each. With a name of 255 bytes appended the kernel still accepts the path. */
const maxPathLength = 1200;
/** A deeper tree has an unknown size. */
const maxAnchors = 256;

function diskBytes(entry: BigIntStats): bigint {
  const blocks = entry.blocks * 512n;
  return blocks > minEntryBytes ? blocks : minEntryBytes;
}

function list(directory: string, onDenied: () => void): string[] {
  return tryCall(() => readdirSync(directory), onDenied) ?? [];
}

function stat(look: () => BigIntStats, onDenied: () => void): BigIntStats | null {
  return tryCall(look, onDenied);
}

function open(directory: string, onDenied: () => void): number | null {
  return tryCall(
    () => openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
    onDenied,
  );
}

/** Null: the entry is gone, was replaced, or is unreadable. */
function tryCall<Seen>(look: () => Seen, onDenied: () => void): Seen | null {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') onDenied();
    return null;
  }
}
