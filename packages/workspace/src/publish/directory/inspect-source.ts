import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { type Directory, openChain, openChild, openTop, statIn, toText } from '../../files/index.ts';
import * as objects from '../../store/objects/index.ts';
import { modeOf } from '../../tree/index.ts';

export interface Ownership {
  permissions: number;
  uid: number;
  gid: number;
}

/** The current state of a path in a source directory. */
export type Found =
  | ({ kind: 'leaf'; bytes: number } & objects.Leaf & Ownership)
  | ({ kind: 'directory' } & Ownership)
  | { kind: 'absent' }
  /** A parent folder of the path is a file, link or special file. */
  | { kind: 'blocked'; by: string }
  /** A socket, FIFO or device. */
  | { kind: 'special' };

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Inspects a path without following links. The content is always hashed, never cached: the source has other writers. */
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
    return await inspectChild(directory, names.at(-1) ?? '');
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

export async function inspectChild(directory: Directory, name: string): Promise<Found> {
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
    return {
      kind: 'leaf',
      mode: objects.modes.symlink,
      oid: objects.objectId('blob', target),
      bytes: target.length,
      ...ownership,
    };
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
  return size >= objects.largeBlobBytes ? objects.hashLargeBlob(fd, size) : objects.objectId('blob', readFileSync(fd));
}

/** The content of a small file, or the target of a link; undefined when the content no longer matches `oid`. */
export async function readSource(root: string, path: string, oid: string): Promise<Buffer | undefined> {
  const content = await withSource(root, path, (file) => (typeof file === 'number' ? readFileSync(file) : file));
  return content !== undefined && objects.objectId('blob', content) === oid ? content : undefined;
}

/** Stores a file of the source in the shadow repository. Throws ESOURCEBUSY when the file changes during the read. */
export async function storeSource(
  root: string,
  { path, oid, writer }: { path: string; oid: string; writer: objects.ObjectWriter },
): Promise<void> {
  const stored = await withSource(root, path, (file) => {
    if (typeof file !== 'number') return writer.blob(file);
    const { size } = fstatSync(file);
    return size >= objects.largeBlobBytes ? writer.largeBlob(file, size) : writer.blob(readFileSync(file));
  });
  if (stored !== oid) throw new WorkspaceError('ESOURCEBUSY', `${toText(path)} changed while it was read.`);
}

/** Calls `use` with an open file, or with the target of a link. */
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

/** Owner and permissions of the nearest existing folder, and the missing folders below. */
export async function parentOf(root: string, path: string): Promise<{ ownership: Ownership; missing: string[] }> {
  const names = path.split('/').slice(0, -1);
  const missing: string[] = [];
  for (let depth = names.length; depth > 0; depth--) {
    const parent = names.slice(0, depth).join('/');
    const found = await inspect(root, parent);
    if (found.kind === 'directory') return { ownership: ownershipOf(found), missing };
    missing.push(parent);
  }
  const found = await inspect(root, '.');
  if (found.kind !== 'directory') throw new WorkspaceError('ESOURCEMISSING', `${root} is no longer a directory.`);
  return { ownership: ownershipOf(found), missing };
}

/** Permission bits of a file in the run's snapshot. */
export interface RunBits {
  bits: number;
  /** Whether the run removed permissions of group or others. */
  isNarrowed: boolean;
}

/**
 * A replacement keeps the owner and permissions of the replaced file, with the executable bit adjusted and minus the permissions removed by
 * the run. A new file gets the owner of its folder and the permissions from the run.
 */
export function withOwnership(
  leaf: objects.Leaf,
  old: (objects.Leaf & Ownership) | null,
  { parent, run }: { parent: Ownership; run: RunBits },
): objects.Leaf & Ownership {
  const { uid, gid } = old ?? parent;
  const executable = leaf.mode === objects.modes.executable;
  if (old === null || old.mode === objects.modes.symlink) {
    return { ...leaf, permissions: run.bits, uid, gid };
  }
  const bits = old.permissions & 0o777;
  const permissions =
    executable === (old.mode === objects.modes.executable)
      ? old.permissions & 0o777
      : executable
        ? bits | ((bits & 0o444) >> 2)
        : bits & ~0o111;
  return { ...leaf, permissions: run.isNarrowed ? permissions & (run.bits | 0o700) : permissions, uid, gid };
}

export function ownershipOf({ permissions, uid, gid }: Ownership): Ownership {
  return { permissions, uid, gid };
}
