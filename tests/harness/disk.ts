import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { memoryDirectory } from '@holdpoint/embedded-redis/testing';
import { until } from './until.ts';

const run = promisify(execFile);

/** A disk whose power can be cut. */
export interface Disk extends AsyncDisposable {
  path: string;
  /** Environment variables for the writers on the disk. */
  env: Readonly<Record<string, string>>;
  /** Writes everything to this disk, and to no other. */
  sync(): Promise<void>;
  /** Copies the content of the disk at this moment. The writers on the disk must be stopped. */
  capture(): Promise<void>;
  /** Replaces the disk with the copy. The processes must be gone. */
  restoreCapture(): Promise<void>;
}

/**
 * `commit=1`: metadata reaches the journal within a second. `noauto_da_alloc`: a rename does not flush the renamed file, a habit of ext4
 * alone. So a file written without fsync is empty after a cut, within POSIX.
 */
const mountOptions = 'loop,commit=1,noauto_da_alloc';

/** A small journal and preallocated inodes, because the whole image is copied. */
const forCuts = ['-E', 'lazy_itable_init=0,lazy_journal_init=0,nodiscard', '-J', 'size=16', '-N', '131072', '-m', '0'];

/**
 * An ext4 file system in an image file. The image is the disk: pages not yet written back by the kernel are missing. Mounting the copy
 * replays the journal, as after a real power cut.
 */
export async function openDisk(
  megabytes = 2048,
  features: readonly string[] = forCuts,
  parent = tmpdir(),
): Promise<Disk> {
  const directory = await mkdtemp(join(parent, 'hp-disk-'));
  const image = join(directory, 'image');
  const copy = join(directory, 'copy');
  const path = join(directory, 'mounted');
  await mkdir(path);
  await writeFile(image, '');
  await truncate(image, megabytes * 1024 ** 2);
  try {
    await run('mkfs.ext4', ['-q', '-F', ...features, image]);
    await run('mount', ['-o', mountOptions, image, path]);
  } catch (error) {
    await rm(directory, { recursive: true });
    throw error;
  }
  return {
    path,
    env: {},
    async sync() {
      await run('sync', ['-f', path]);
    },
    async capture() {
      await until('two copies of the image are the same', async () => {
        await run('cp', ['--sparse=always', image, copy]);
        return run('cmp', ['-s', image, copy]).then(
          () => true,
          () => false,
        );
      });
    },
    async restoreCapture() {
      await unmount(path);
      await rename(copy, image);
      await run('mount', ['-o', mountOptions, image, path]);
    },
    async [Symbol.asyncDispose]() {
      await unmount(path);
      await rm(directory, { recursive: true });
    },
  };
}

/**
 * A small disk for power cuts. Its image lies in memory where memory suffices: the cuts copy and compare whole images, half of their CPU
 * time on a real disk, and minutes on a slow disk.
 */
export const openDiskForCuts = async (): Promise<Disk> => openDisk(1024, forCuts, await memoryDirectory());

/** A just killed process keeps its files open for a moment. Trees on layers are mounts below the path. */
async function unmount(path: string): Promise<void> {
  let reason: unknown;
  await until('the disk is unmounted', () =>
    run('umount', ['-R', path]).then(
      () => true,
      (error: unknown) => {
        reason = error;
        return false;
      },
    ),
  ).catch((error: unknown) => Promise.reject(new Error(String(error), { cause: reason })));
}

/** @returns why this machine cannot mount a disk; undefined for a machine with mounts */
export async function whyNoDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `loop mounts need Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'loop mounts need root';
  try {
    const disk = await openDisk(64);
    await disk[Symbol.asyncDispose]();
    return undefined;
  } catch (error) {
    return `no loop mount here: ${(error as Error).message.trim()}`;
  }
}
