import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';

/** About 1 ms of work, after which the worker's other tasks get their turn. */
const SLICE = 200;
/** A tree of more entries is of unknown size. Looking at so many takes some seconds. */
const MOST_ENTRIES = 2_000_000;
/** Least that an entry takes: a block of its own or, where it is empty, its share of the file system's inodes. */
const LEAST_BYTES = 4096n;

/**
 * Adds up what a tree takes of its disk, until it is more than `enough`. A file with several names counts once. Other file systems
 * mounted inside do not count. Follows no link; what disappears meanwhile, or replaces a directory while it is looked at, makes the sum
 * wrong and nothing else: nothing is opened but directories.
 *
 * @returns bytes; more than `enough` only says that it is more, infinity that there are too many entries, or that they lie too deep
 */
export async function walk(root: string, enough: number): Promise<number> {
  const top = stat(() => lstatSync(root, { bigint: true }));
  if (!top) return 0;
  const seen = new Set<bigint>();
  const waiting: (string | Anchor)[] = [root];
  const anchors = new Set<number>();
  let bytes = taken(top);
  let looked = 0;
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next !== 'string') {
        closeSync(next.descriptor);
        anchors.delete(next.descriptor);
        continue;
      }
      let directory = next;
      if (directory.length > LONGEST_PATH) {
        const descriptor = open(directory);
        if (descriptor === null) continue;
        anchors.add(descriptor);
        if (anchors.size > MOST_ANCHORS) return Number.POSITIVE_INFINITY;
        // It is reached again when all that is below has been looked at.
        waiting.push({ descriptor });
        directory = `/proc/self/fd/${descriptor}`;
      }
      for (const name of list(directory)) {
        if (++looked % SLICE === 0) await breathe();
        if (looked > MOST_ENTRIES) return Number.POSITIVE_INFINITY;
        const path = join(directory, name);
        const entry = stat(() => lstatSync(path, { bigint: true }));
        if (!entry || entry.dev !== top.dev) continue;
        if (entry.isDirectory()) waiting.push(path);
        else if (entry.nlink > 1n) {
          if (seen.has(entry.ino)) continue;
          seen.add(entry.ino);
        }
        bytes += taken(entry);
        if (bytes > enough) return Number(bytes);
      }
    }
    return Number(bytes);
  } finally {
    for (const descriptor of anchors) closeSync(descriptor);
  }
}

/** An open directory from which the paths below are short again: the kernel names nothing by more than 4096 bytes. */
interface Anchor {
  descriptor: number;
}

/** With a name of 255 bytes behind it, still one that the kernel takes. In characters, of up to 3 bytes each. */
const LONGEST_PATH = 1200;
/** A tree as deep as this needs is of unknown size. */
const MOST_ANCHORS = 256;

/** Bytes of files that have no name any more but are held open by the processes, on the same file system as the tree. */
export function unlinkedBytes(root: string, processes: readonly number[]): number {
  const top = stat(() => lstatSync(root, { bigint: true }));
  if (!top) return 0;
  const seen = new Set<bigint>();
  let bytes = 0n;
  for (const pid of processes) {
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      const entry = stat(() => statSync(`/proc/${pid}/fd/${descriptor}`, { bigint: true }));
      if (!entry?.isFile()) continue;
      if (entry.nlink > 0n || entry.dev !== top.dev || seen.has(entry.ino)) continue;
      seen.add(entry.ino);
      bytes += taken(entry);
    }
  }
  return Number(bytes);
}

function taken(entry: BigIntStats): bigint {
  const blocks = entry.blocks * 512n;
  return blocks > LEAST_BYTES ? blocks : LEAST_BYTES;
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // gone, or closed to this user
  }
}

/** Null: gone, or closed to this user. */
function stat(look: () => BigIntStats): BigIntStats | null {
  try {
    return look();
  } catch {
    return null;
  }
}

function open(directory: string): number | null {
  try {
    return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return null; // gone, or replaced by something else
  }
}
