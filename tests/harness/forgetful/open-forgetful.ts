import { execFile } from 'node:child_process';
import { appendFileSync, lstatSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unmountBelow } from '@holdpoint/workspace/testing';
import type { Disk } from '../disk.ts';

const run = promisify(execFile);
const source = fileURLToPath(new URL('record-fsync.c', import.meta.url));

/**
 * A directory with a loss of unsynced bytes at a power cut: names stay, as in a file system with a journal, and each file is truncated to its
 * length at its last fsync. A library, preloaded by every process, records the fsyncs.
 *
 * Redis and git do not load it, because the system gives them their own environment. So the file of Redis (`appendfsync always`) and the objects
 * and references of git (`core.fsync=committed,reference`) are never truncated. Bytes overwritten in place are kept. A mounted disk
 * is stricter in both.
 */
export async function openForgetful(): Promise<Disk> {
  const directory = await mkdtemp(join(tmpdir(), 'hp-forgetful-'));
  const path = join(directory, 'files');
  const copy = join(directory, 'copy');
  const log = join(directory, 'fsyncs');
  const library = join(directory, 'record-fsync.so');
  await mkdir(path);
  await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
  const describeAll = (): string => everyFile(path).map(lineOf).join('');
  writeFileSync(log, describeAll());
  return {
    path,
    env: { LD_PRELOAD: library, RECORD_FSYNC: log },
    async sync() {
      appendFileSync(log, describeAll());
    },
    async capture() {
      // No mount survives a power cut. The run's writes are in the folders behind the mounts.
      unmountBelow(path);
      const lengths = syncedLengths(log);
      const cuts = everyFile(path).flatMap((file) => {
        const length = lengths.get(idOf(file)) ?? 0;
        return isSynced(relative(path, file)) || lstatSync(file).size <= length ? [] : [{ file, length }];
      });
      await run('cp', ['-a', '--reflink=auto', path, copy]);
      for (const { file, length } of cuts) truncateSync(join(copy, relative(path, file)), length);
    },
    async restoreCapture() {
      await rm(path, { recursive: true });
      renameSync(copy, path);
      writeFileSync(log, describeAll());
    },
    async [Symbol.asyncDispose]() {
      unmountBelow(directory);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @returns why this machine cannot record fsyncs; undefined for a machine with records */
export async function whyNotForgetful(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `recording fsyncs needs Linux, this is ${process.platform}`;
  return run('cc', ['--version']).then(
    () => undefined,
    () => 'recording fsyncs needs a C compiler (cc)',
  );
}

const isSynced = (path: string): boolean =>
  path.startsWith('data/redis/appendonlydir/') || /\.git\/(objects|refs)\//.test(path);

/** Inode and birth time: the inode number of a removed file is used again. */
function idOf(file: string): string {
  const { ino, birthtimeNs } = lstatSync(file, { bigint: true });
  return `${ino}-${birthtimeNs / 1_000_000_000n}.${String(birthtimeNs % 1_000_000_000n).padStart(9, '0')}`;
}

const lineOf = (file: string): string => `${idOf(file)} ${lstatSync(file).size}\n`;

function syncedLengths(log: string): Map<string, number> {
  const lines = readFileSync(log, 'utf8').split('\n');
  return new Map(lines.map((line) => line.split(' ')).map(([id = '', length = '0']) => [id, Number(length)]));
}

function everyFile(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
