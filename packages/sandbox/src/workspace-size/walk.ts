import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';

/** About 1 ms of work, after which the worker's other tasks get their turn. */
const SLICE = 200;
/** A tree of more entries is of unknown size. Looking at so many takes some seconds. */
const MOST_ENTRIES = 2_000_000;
/** Least that an entry takes: a block of its own or, where it is empty, its share of the file system's inodes. */
const LEAST_BYTES = 4096n;

export interface Walked {
  /** More than `enough` only says that it is more, infinity that there are too many entries, or that they lie too deep. */
  bytes: number;
  /** A directory is closed to this user; what lies in it is not counted. */
  closed: boolean;
}

/**
 * Adds up what a tree takes of its disk, until it is more than `enough`. A file with several names counts once. Other file systems
 * mounted inside do not count. Follows no link; what disappears meanwhile, or replaces a directory while it is looked at, makes the sum
 * wrong and nothing else: nothing is opened but directories.
 *
 */
export async function walk(root: string, enough: number): Promise<Walked> {
  let closed = false;
  const onDenied = () => {
    closed = true;
  };
  const top = stat(() => lstatSync(root, { bigint: true }), onDenied);
  if (!top) return { bytes: 0, closed };
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
        const descriptor = open(directory, onDenied);
        if (descriptor === null) continue;
        anchors.add(descriptor);
        if (anchors.size > MOST_ANCHORS) return { bytes: Number.POSITIVE_INFINITY, closed };
        // It is reached again when all that is below has been looked at.
        waiting.push({ descriptor });
        directory = `/proc/self/fd/${descriptor}`;
      }
      for (const name of list(directory, onDenied)) {
        if (++looked % SLICE === 0) await breathe();
        if (looked > MOST_ENTRIES) return { bytes: Number.POSITIVE_INFINITY, closed };
        const path = join(directory, name);
        const entry = stat(() => lstatSync(path, { bigint: true }), onDenied);
        if (!entry || entry.dev !== top.dev) continue;
        if (entry.isDirectory()) waiting.push(path);
        else if (entry.nlink > 1n) {
          if (seen.has(entry.ino)) continue;
          seen.add(entry.ino);
        }
        bytes += taken(entry);
        if (bytes > enough) return { bytes: Number(bytes), closed };
      }
    }
    return { bytes: Number(bytes), closed };
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

function taken(entry: BigIntStats): bigint {
  const blocks = entry.blocks * 512n;
  return blocks > LEAST_BYTES ? blocks : LEAST_BYTES;
}

function list(directory: string, onDenied: () => void): string[] {
  return unless(() => readdirSync(directory), onDenied) ?? [];
}

function stat(look: () => BigIntStats, onDenied: () => void): BigIntStats | null {
  return unless(look, onDenied);
}

function open(directory: string, onDenied: () => void): number | null {
  return unless(() => openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW), onDenied);
}

/** Null: gone, replaced by something else, or closed to this user. */
function unless<Seen>(look: () => Seen, onDenied: () => void): Seen | null {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') onDenied();
    return null;
  }
}
