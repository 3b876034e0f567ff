import { execFile } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
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

/** An ext4 in a file, mounted by loop. Undefined where this machine does not allow it (it needs root). */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk | undefined> {
  const root = await mkdtemp(join(tmpdir(), 'hp-disk-'));
  const image = join(root, 'image');
  const directory = join(root, 'disk');
  await mkdir(directory);
  try {
    await run('truncate', ['-s', `${mebibytes}M`, image]);
    await run('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    await run('mount', ['-o', 'loop', image, directory]);
  } catch {
    await rm(root, { recursive: true, force: true });
    return undefined;
  }
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
    async [Symbol.asyncDispose]() {
      await run('umount', ['-l', directory]);
      await rm(root, { recursive: true, force: true });
    },
  };
}
