import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import type { Directory } from '../../files/open-directory.ts';
import { openChain, openChild, openTop, statIn } from '../../files/open-directory.ts';
import { hashLargeBlob } from '../../git-objects/large-blob.ts';
import { objectId } from '../../git-objects/object-id.ts';
import { modeOf } from '../../tree/scan.ts';
import type { Leaf } from '../../tree/tree.ts';
import { modes } from '../../tree/tree.ts';

export interface Ownership {
  permissions: number;
  uid: number;
  gid: number;
}

/** What a source directory holds at a path right now. */
export type Found =
  | ({ kind: 'leaf' } & Leaf & Ownership)
  | ({ kind: 'directory' } & Ownership)
  | { kind: 'absent' }
  /** A file, link or special file stands where a folder on the way should be. */
  | { kind: 'blocked'; by: string }
  /** Something that a snapshot cannot hold. */
  | { kind: 'special' };

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Looks at one path, following no link. Content is hashed, never taken from a cache: the source has other writers. */
export async function inspect(root: string | Buffer, path: string): Promise<Found> {
  const names = path.split('/');
  let directory = openTop(root);
  try {
    for (const [depth, name] of names.slice(0, -1).entries()) {
      const next = openBelow(directory, name);
      if (next === 'absent') return { kind: 'absent' };
      if (next === 'blocked') return { kind: 'blocked', by: names.slice(0, depth + 1).join('/') };
      directory[Symbol.dispose]();
      directory = next;
    }
    return await look(directory, names.at(-1) ?? '');
  } finally {
    directory[Symbol.dispose]();
  }
}

function openBelow(directory: Directory, name: string): Directory | 'absent' | 'blocked' {
  try {
    return openChild(directory, name);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return 'absent';
    if (errno === 'ENOTDIR' || errno === 'ELOOP') return 'blocked';
    throw error;
  }
}

/** Looks at a child of an open directory. */
async function look(directory: Directory, name: string): Promise<Found> {
  const status = statIn(directory, name);
  if (status === undefined) return { kind: 'absent' };
  const ownership = {
    permissions: Number(status.mode & 0o7777n),
    uid: Number(status.uid),
    gid: Number(status.gid),
  };
  if (status.isDirectory()) return { kind: 'directory', ...ownership };
  if (status.isSymbolicLink()) {
    const target = readlinkSync(directory.at(name), { encoding: 'buffer' });
    return { kind: 'leaf', mode: modes.symlink, oid: objectId('blob', target), ...ownership };
  }
  if (!status.isFile()) return { kind: 'special' };
  const fd = openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = fstatSync(fd, { bigint: true });
    if (!opened.isFile()) return { kind: 'special' };
    return { kind: 'leaf', mode: modeOf(opened), oid: await hashFile(fd, Number(opened.size)), ...ownership };
  } finally {
    closeSync(fd);
  }
}

async function hashFile(fd: number, size: number): Promise<string> {
  return size > 4 * 1024 * 1024 ? hashLargeBlob(fd, size) : objectId('blob', readFileSync(fd));
}

/** The content of a file, or a link's target; undefined when there is neither. */
export async function readSource(root: string, path: string): Promise<Buffer | undefined> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  using top = openTop(root);
  using directory = openChain(top, names);
  const status = directory === undefined ? undefined : statIn(directory, name);
  if (directory === undefined || status === undefined) return undefined;
  if (status.isSymbolicLink()) return readlinkSync(directory.at(name), { encoding: 'buffer' });
  if (!status.isFile()) return undefined;
  const fd = openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
