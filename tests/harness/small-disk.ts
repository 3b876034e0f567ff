import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openDisk, whyNoDisk } from './disk.ts';

const mebibyte = 1024 * 1024;

/** A file system of its own that may be filled up. */
export interface SmallDisk extends AsyncDisposable {
  directory: string;
  free(): number;
  /** Writes one file until so much is left, or nothing fits any more. */
  fillTo(freeBytes: number): void;
  /** Removes what `fillTo` wrote. */
  empty(): void;
}

/** Undefined where this machine mounts no disk. */
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
