import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { type Directory, openChain, openChild, openTop, statIn } from '../../files/open-directory.ts';
import { toText } from '../../files/path-name.ts';
import { hashLargeBlob } from '../../git-objects/large-blob.ts';
import { objectId } from '../../git-objects/object-id.ts';
import { largeFrom, type ObjectWriter } from '../../git-objects/object-writer.ts';
import { modeOf } from '../../tree/scan.ts';
import { type Leaf, modes } from '../../tree/tree.ts';

export interface Ownership {
  permissions: number;
  uid: number;
  gid: number;
}

/** What a source directory holds at a path right now. */
export type Found =
  | ({ kind: 'leaf'; bytes: number } & Leaf & Ownership)
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
export async function look(directory: Directory, name: string): Promise<Found> {
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
    return { kind: 'leaf', mode: modes.symlink, oid: objectId('blob', target), bytes: target.length, ...ownership };
  }
  if (!status.isFile()) return { kind: 'special' };
  const fd = openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = fstatSync(fd, { bigint: true });
    if (!opened.isFile()) return { kind: 'special' };
    const bytes = Number(opened.size);
    return { kind: 'leaf', mode: modeOf(opened), oid: await hashFile(fd, bytes), bytes, ...ownership };
  } finally {
    closeSync(fd);
  }
}

async function hashFile(fd: number, size: number): Promise<string> {
  return size >= largeFrom ? hashLargeBlob(fd, size) : objectId('blob', readFileSync(fd));
}

/** The content of a small file, or a link's target; undefined when it is not what it was when it was looked at. */
export async function readSource(root: string, path: string, oid: string): Promise<Buffer | undefined> {
  const content = await withSource(root, path, (file) => (typeof file === 'number' ? readFileSync(file) : file));
  return content !== undefined && objectId('blob', content) === oid ? content : undefined;
}

/** Keeps a file of the source in the shadow repository. Throws ESOURCEBUSY when it changes meanwhile. */
export async function storeSource(
  root: string,
  { path, oid, writer }: { path: string; oid: string; writer: ObjectWriter },
): Promise<void> {
  const stored = await withSource(root, path, (file) => {
    if (typeof file !== 'number') return writer.blob(file);
    const { size } = fstatSync(file);
    return size >= largeFrom ? writer.largeBlob(file, size) : writer.blob(readFileSync(file));
  });
  if (stored !== oid) throw new WorkspaceError('ESOURCEBUSY', `${toText(path)} changed while it was read.`);
}

/** Hands over a file, open for reading, or the target of a link. */
async function withSource<T>(
  root: string,
  path: string,
  use: (file: number | Buffer) => T | Promise<T>,
): Promise<T | undefined> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  using top = openTop(root);
  using directory = openChain(top, names);
  const status = directory === undefined ? undefined : statIn(directory, name);
  if (directory === undefined || status === undefined) return undefined;
  if (status.isSymbolicLink()) return use(readlinkSync(directory.at(name), { encoding: 'buffer' }));
  if (!status.isFile()) return undefined;
  const fd = openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return await use(fd);
  } finally {
    closeSync(fd);
  }
}
