import { execFile } from 'node:child_process';
import { appendFileSync, lstatSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Disk } from '../disk.ts';

const run = promisify(execFile);
const source = fileURLToPath(new URL('record-fsync.c', import.meta.url));

/**
 * A directory that forgets at a power cut what was not fsynced: names and lengths of folders stay, as in a file system with a journal, and
 * a file is cut to the length that it had when it was synced last. A library that every process loads writes the fsyncs down.
 *
 * Redis and git do not load it, since the system gives them an environment of their own. So the file of Redis is taken as it is
 * (`appendfsync always`), and so are objects and references of git (`core.fsync=committed,reference`). Bytes that were overwritten in place
 * are not forgotten. A disk of its own is stricter in both.
 */
export async function openForgetful(): Promise<Disk> {
  const directory = await mkdtemp(join(tmpdir(), 'hp-forgetful-'));
  const path = join(directory, 'files');
  const copy = join(directory, 'copy');
  const log = join(directory, 'fsyncs');
  const library = join(directory, 'record-fsync.so');
  await mkdir(path);
  await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
  const known = (): void =>
    writeFileSync(
      log,
      everyFile(path)
        .map((file) => lineOf(file))
        .join(''),
    );
  known();
  return {
    path,
    env: { LD_PRELOAD: library, RECORD_FSYNC: log },
    async sync() {
      appendFileSync(
        log,
        everyFile(path)
          .map((file) => lineOf(file))
          .join(''),
      );
    },
    async photograph() {
      const lengths = syncedLengths(log);
      const cuts = everyFile(path).flatMap((file) => {
        const length = lengths.get(idOf(file)) ?? 0;
        return isSynced(relative(path, file)) || lstatSync(file).size <= length ? [] : [{ file, length }];
      });
      await run('cp', ['-a', '--reflink=auto', path, copy]);
      for (const { file, length } of cuts) truncateSync(join(copy, relative(path, file)), length);
    },
    async becomePhotograph() {
      await rm(path, { recursive: true });
      renameSync(copy, path);
      known();
    },
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @returns why this machine cannot do it; undefined when it can */
export async function whyNotForgetful(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `recording fsyncs needs Linux, this is ${process.platform}`;
  return run('cc', ['--version']).then(
    () => undefined,
    () => 'recording fsyncs needs a C compiler (cc)',
  );
}

const isSynced = (path: string): boolean =>
  path.startsWith('data/redis/appendonlydir/') || /\.git\/(objects|refs)\//.test(path);

/** A file by its inode and its birth: the number of a removed file is given to another one. */
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
