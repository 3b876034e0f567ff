import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { WriteExpectation } from '@holdpoint/contract';
import { assertOutsideRepository } from './dot-git.ts';
import { assertRegular } from './entry.ts';
import { firstMissing } from './make-directory.ts';
import { type Operations, Refusal } from './protocol.ts';
import { hashFile, sha256 } from './read.ts';
import { resolve } from './resolve.ts';

/**
 * Fully synchronous, so no other request runs between the check and the write. Without fsync: the worker reads the file for the snapshot at
 * once. After a power cut the boot id makes the whole tree suspect, and the worker rebuilds the tree from the snapshot.
 */
export function write(root: string, input: Operations['write']['input']): Operations['write']['output'] {
  const data = Buffer.from(input.data, 'base64');
  const { path, stats } = resolve(root, input.path);
  assertOutsideRepository(root, path);
  if (stats) assertRegular(stats);
  assertNamesFile(input.path);
  assertExpected(path, stats, input.expect);
  const directory = dirname(path);
  if (input.parents) makeParents(root, directory);
  const temporary = join(directory, temporaryName());
  let isThere = true;
  try {
    fill(temporary, data, stats ? stats.mode & 0o777 : 0o644);
    // Unlike a rename, a link fails when a command has made the file since the check.
    if ('exists' in input.expect) fs.linkSync(temporary, path);
    else {
      fs.renameSync(temporary, path);
      isThere = false;
    }
  } finally {
    if (isThere) fs.rmSync(temporary, { force: true });
  }
  return { path: relative(root, path), bytes: data.length, created: stats === null, sha256: sha256(data) };
}

function makeParents(root: string, directory: string): void {
  try {
    fs.mkdirSync(directory, { recursive: true });
  } catch (error) {
    // Node says ENOENT where the file system says EROFS.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') fs.mkdirSync(firstMissing(root, directory));
    throw error;
  }
}

/** A trailing slash names a directory. */
export function assertNamesFile(path: string): void {
  if (path.endsWith('/') || path.endsWith('/.')) throw new Refusal('EISDIR', 'the path names a directory');
}

function assertExpected(path: string, stats: fs.Stats | null, expect: WriteExpectation): void {
  if ('any' in expect) return;
  if ('exists' in expect) {
    if (stats) throw new Refusal('EEXIST', 'it exists already');
    return;
  }
  if (!stats) throw new Refusal('ECHANGED', 'it no longer exists');
  if (hashFile(path) !== expect.sha256) throw new Refusal('ECHANGED', 'its content is not what was expected');
}

function fill(path: string, data: Buffer, mode: number): void {
  const descriptor = fs.openSync(
    path,
    fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW,
    0o600,
  );
  try {
    for (let written = 0; written < data.length; ) written += fs.writeSync(descriptor, data, written);
    fs.fchmodSync(descriptor, mode);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Name of a temporary entry during an operation. */
export const temporaryName = (): string => `.holdpoint-${randomBytes(8).toString('hex')}.tmp`;
