import { closeSync, constants, copyFileSync, fstatSync, futimesSync, openSync, readSync, type Stats } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { type BytePath, type Directory, setFileOwner, writeAll } from '../files/index.ts';
import { largeBlobBytes } from '../git-objects/index.ts';
import { bytesDone, countBytes, type ImportContext } from './import-context.ts';

/** An open regular file of a source. */
export interface OpenSource {
  readonly fd: number;
  readonly status: Stats;
  /** For system calls that take no descriptor. */
  readonly path: string | Buffer;
  [Symbol.dispose](): void;
}

/** State that a copy keeps from one file to the next. */
export interface CopyState {
  /** Whether blocks can be shared with the source; undefined until the first try. */
  sharing: boolean | undefined;
  /** Buffer for the content of one file. */
  memory: Buffer;
}

export function newCopyState(): CopyState {
  return { sharing: undefined, memory: Buffer.alloc(0) };
}

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

/** Undefined when the path is no longer a regular file. */
export function openSource(directory: Directory, name: string): OpenSource | undefined {
  const fd = openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const status = fstatSync(fd);
  if (!status.isFile()) {
    closeSync(fd);
    return undefined;
  }
  const path = process.platform === 'linux' ? `/proc/self/fd/${fd}` : directory.at(name);
  return { fd, status, path, [Symbol.dispose]: () => closeSync(fd) };
}

interface At {
  source: OpenSource;
  directory: Directory;
  name: string;
  path: BytePath;
}

/**
 * Copies a file, sharing blocks where the file system can. Elsewhere a small file goes through memory, which takes a third of the time of
 * the system's own copy (0.23 s against 0.73 s for 10,000 files of 7.5 KB).
 *
 * The content of a small file is stored for the first snapshot in the same pass.
 */
export function copyFile(context: ImportContext & { state: CopyState }, at: At): void {
  const { fd, status } = at.source;
  countBytes(context, status.size);
  const target = at.directory.at(at.name);
  const isSmall = status.size < largeBlobBytes;
  const isShared = share(context.state, at.source, target);
  if (!isShared && !isSmall) copyFileSync(at.source.path, target, COPYFILE_EXCL);
  const isThere = isShared || !isSmall;
  const copy = isThere
    ? openSync(target, O_RDONLY | O_NOFOLLOW)
    : openSync(target, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    // A shared file is read from the copy, because the source may have changed.
    const content = isSmall ? readUpTo(context.state, isThere ? copy : fd, status.size) : undefined;
    if (content !== undefined && !isThere) writeAll(copy, content);
    futimesSync(copy, status.atimeMs / 1000, status.mtimeMs / 1000);
    setFileOwner(copy, context.owner, (status.mode & 0o777) | 0o600);
    if (content !== undefined) storeContent(context, { path: at.path, copy, content });
  } finally {
    closeSync(copy);
  }
  bytesDone(context, status.size);
}

function storeContent(context: ImportContext, input: { path: BytePath; copy: number; content: Buffer }): void {
  const status = fstatSync(input.copy, { bigint: true });
  const isWhole = status.size === BigInt(input.content.length);
  if (!isWhole || status.size > context.limits.fileBytes) return;
  context.learn(input.path, status, context.content.blob(input.content));
}

/** Makes a copy that shares its blocks with the source. The first file with blocks decides whether the file system can. */
function share(state: CopyState, source: OpenSource, target: Buffer): boolean {
  if (state.sharing === false || source.status.size === 0) return false;
  try {
    copyFileSync(source.path, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    state.sharing = true;
    return true;
  } catch (error) {
    if (!unsupported.includes(errnoOf(error) ?? '')) throw error;
    // After one success, a failure (another mount, another setting) does not disable sharing for the rest.
    state.sharing ??= false;
    return false;
  }
}

const unsupported = ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY', 'EXDEV', 'EINVAL', 'EPERM'];

/** At most `size` bytes of a file, in a buffer that the next call overwrites. */
function readUpTo(state: CopyState, fd: number, size: number): Buffer {
  if (state.memory.length < size) state.memory = Buffer.allocUnsafeSlow(Math.max(size, 256 * 1024));
  let length = 0;
  while (length < size) {
    const read = readSync(fd, state.memory, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return state.memory.subarray(0, length);
}
