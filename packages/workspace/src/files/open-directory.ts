import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';

/**
 * An open directory of a tree under changes by other processes. On Linux, paths of children are `/proc/self/fd/N/name`: neither a planted
 * symbolic link nor a swapped parent leads out of the tree. realpath + O_NOFOLLOW on plain paths lost such a race 18,538 times in 3 s.
 * Other systems use plain paths.
 */
export interface Directory {
  readonly fd: number;
  /** Path of a child for any synchronous fs call without following the last component. */
  at(name: string): Buffer;
  /** Path of the directory. */
  readonly self: Buffer;
  [Symbol.dispose](): void;
}

const throughDescriptors = process.platform === 'linux' && fs.existsSync('/proc/self/fd');
/** Linux; Node has no constant for the flag. */
const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

/** Opens the top of a tree. Follows links in the path, because the path belongs to the host. */
export function openTop(path: string | Buffer): Directory {
  return wrap(fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK), Buffer.from(path));
}

/** Opens the top of a run's tree. The owner may have denied access to the top. */
export function openTree(path: string): Directory {
  const mode = fs.statSync(path).mode & 0o777;
  if ((mode & 0o700) !== 0o700) fs.chmodSync(path, mode | 0o700);
  return openTop(path);
}

/** Opens a child directory. Throws ENOTDIR or ELOOP when the child is anything else, ENOENT when there is none. */
export function openChild(parent: Directory, name: string): Directory {
  const path = parent.at(name);
  return wrap(fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK), path);
}

/**
 * Opens a child directory for reading, creating and removing entries. Grants its owner access first when the mode denies access; the mode
 * is changed through a descriptor: a swapped link is not followed.
 */
export function openForOwner(parent: Directory, name: string): Directory {
  const mode = statIn(parent, name)?.mode ?? 0n;
  if ((mode & 0o700n) === 0o700n || process.getuid?.() === 0) return openChild(parent, name);
  const fd = fs.openSync(parent.at(name), (throughDescriptors ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW);
  try {
    fs.chmodSync(throughDescriptors ? `/proc/self/fd/${fd}` : parent.at(name), Number(mode & 0o777n) | 0o700);
  } finally {
    fs.closeSync(fd);
  }
  return openChild(parent, name);
}

/** Whether a mode denies the owner the needed bits; root needs none. */
export const deniesOwner = (mode: bigint, needed: bigint): boolean =>
  (mode & needed) !== needed && process.getuid?.() !== 0;

/**
 * Opens a child with a mode against its own owner, the user of this process. The mode is changed through a descriptor: a swapped link is
 * not followed. The mode of a file is restored immediately, the mode of a folder at its close.
 * @returns undefined when the child belongs to another user
 */
export function openDeniedFile(parent: Directory, name: string): number | undefined {
  return withOwn(parent, name, (path, { mode, isFile }) => {
    if (!isFile) return undefined;
    fs.chmodSync(path, mode | 0o400);
    try {
      return fs.openSync(path, O_RDONLY | O_NONBLOCK);
    } finally {
      fs.chmodSync(path, mode);
    }
  });
}

export function openDeniedFolder(parent: Directory, name: string): Directory | undefined {
  return withOwn(parent, name, (path, { mode, isFolder }) => {
    if (!isFolder) return undefined;
    fs.chmodSync(path, mode | 0o500);
    const opened = wrap(fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK), parent.at(name));
    const close = () => {
      fs.fchmodSync(opened.fd, mode);
      opened[Symbol.dispose]();
    };
    return { ...opened, [Symbol.dispose]: close };
  });
}

function withOwn<T>(
  parent: Directory,
  name: string,
  open: (path: string, status: { mode: number; isFile: boolean; isFolder: boolean }) => T,
): T | undefined {
  if (!throughDescriptors) return undefined;
  let fd: number;
  try {
    fd = fs.openSync(parent.at(name), O_PATH | O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
  try {
    const status = fs.fstatSync(fd);
    if (status.uid !== process.getuid?.()) return undefined;
    const kind = { isFile: status.isFile(), isFolder: status.isDirectory() };
    return open(`/proc/self/fd/${fd}`, { mode: status.mode & 0o7777, ...kind });
  } finally {
    fs.closeSync(fd);
  }
}

/** Opens a chain of child directories; undefined when a directory of the chain is missing or is not a directory. */
export function openChain(top: Directory, names: readonly string[]): Directory | undefined {
  let current = openTop(top.self);
  for (const name of names) {
    using parent = current;
    try {
      current = openChild(parent, name);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP') return undefined;
      throw error;
    }
  }
  return current;
}

/** Names of the children, as bytes in `latin1`. */
export function namesIn(directory: Directory): string[] {
  return fs.readdirSync(directory.self, { encoding: 'latin1' as BufferEncoding });
}

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** Names and kinds of the children, read together: a `stat` of each of 10,000 takes 50 ms. */
export function entriesIn(directory: Directory): { name: string; kind: EntryKind }[] {
  const options = { encoding: 'latin1' as BufferEncoding, withFileTypes: true } as const;
  return fs.readdirSync(directory.self, options).map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
}

function kindOf(entry: fs.Dirent): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** Status of a child, not following links; undefined for a missing child. */
export function statIn(directory: Directory, name: string): fs.BigIntStats | undefined {
  return fs.lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

function wrap(fd: number, path: Buffer): Directory {
  const self = throughDescriptors ? Buffer.from(`/proc/self/fd/${fd}`) : path;
  return {
    fd,
    self,
    at: (name) => Buffer.concat([self, slash, Buffer.from(name, 'latin1')]),
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

const slash = Buffer.from('/');
