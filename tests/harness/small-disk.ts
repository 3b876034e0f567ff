import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openDisk, whyNoDisk } from './disk.ts';

const mebibyte = 1024 * 1024;

/** A mounted file system for tests to fill. */
export interface SmallDisk extends AsyncDisposable {
  directory: string;
  free(): number;
  /** Writes to a single file until only `freeBytes` are free, or the disk is full. */
  fillTo(freeBytes: number): void;
  /** Removes the file of `fillTo`. */
  empty(): void;
}

/** @returns undefined when this machine cannot mount a disk */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk | undefined> {
  if ((await whyNoDisk()) !== undefined) return undefined;
  const disk = await openDisk(mebibytes, ['-m', '0']);
  const directory = disk.path;
  const filler = join(directory, 'filler');
  const free = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  return {
    directory,
    free,
    fillTo(freeBytes) {
      const file = openSync(filler, 'a');
      try {
        for (let left = free() - freeBytes; left > 0; left = free() - freeBytes) {
          if (writeSync(file, Buffer.alloc(Math.min(left, mebibyte), 'x')) === 0) break;
        }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(filler, { force: true }),
    [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose](),
  };
}
