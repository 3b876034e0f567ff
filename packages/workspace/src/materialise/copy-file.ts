import { closeSync, constants, copyFileSync, fstatSync, futimesSync, openSync, readSync, type Stats } from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { Directory } from '../files/open-directory.ts';
import type { BytePath } from '../files/path-name.ts';
import { setFileOwner } from '../files/set-owner.ts';
import { writeAll } from '../files/write-durably.ts';
import { largeBlobBytes } from '../git-objects/object-writer.ts';
import { bytesAreIn, countBytes, type Intake } from './intake.ts';

/** An open regular file of a source. */
export interface OpenSource {
  readonly fd: number;
  readonly status: Stats;
  /** For system calls that take no descriptor. */
  readonly path: string | Buffer;
  [Symbol.dispose](): void;
}

/** What is kept from one file of a copy to the next. */
export interface Means {
  /** Whether blocks can be shared with the source; undefined until it was tried. */
  sharing: boolean | undefined;
  /** Content on its way. */
  memory: Buffer;
}

export function freshMeans(): Means {
  return { sharing: undefined, memory: Buffer.alloc(0) };
}

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

/** Undefined when it is no regular file any more. */
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
 * Copies a file, sharing blocks where the file system can. Where it cannot, a file that is not large goes through memory, which
 * takes a third of the time of the system's own copy (0.23 s against 0.73 s for 10,000 files of 7.5 KB).
 *
 * Content of a size that the first snapshot will hold in one piece is taken on the way.
 */
export function copyFile(intake: Intake & { means: Means }, at: At): void {
  const { fd, status } = at.source;
  countBytes(intake, status.size);
  const target = at.directory.at(at.name);
  const isSmall = status.size < largeBlobBytes;
  const isShared = share(intake.means, at.source, target);
  if (!isShared && !isSmall) copyFileSync(at.source.path, target, COPYFILE_EXCL);
  const isThere = isShared || !isSmall;
  const copy = isThere
    ? openSync(target, O_RDONLY | O_NOFOLLOW)
    : openSync(target, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    // Of a shared file the copy is read: the source may have changed since.
    const content = isSmall ? readUpTo(intake.means, isThere ? copy : fd, status.size) : undefined;
    if (content !== undefined && !isThere) writeAll(copy, content);
    futimesSync(copy, status.atimeMs / 1000, status.mtimeMs / 1000);
    setFileOwner(copy, intake.owner, (status.mode & 0o777) | 0o600);
    if (content !== undefined) takeContent(intake, { path: at.path, copy, content });
  } finally {
    closeSync(copy);
  }
  bytesAreIn(intake, status.size);
}

function takeContent(intake: Intake, input: { path: BytePath; copy: number; content: Buffer }): void {
  const status = fstatSync(input.copy, { bigint: true });
  const isWhole = status.size === BigInt(input.content.length);
  if (!isWhole || status.size > intake.limits.fileBytes) return;
  intake.remember(input.path, status, intake.content.blob(input.content));
}

/** Makes a copy that shares its blocks with the source. Whether it can is found out with the first file that has any. */
function share(means: Means, source: OpenSource, target: Buffer): boolean {
  if (means.sharing === false || source.status.size === 0) return false;
  try {
    copyFileSync(source.path, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    means.sharing = true;
    return true;
  } catch (error) {
    if (!unable.includes(errnoOf(error) ?? '')) throw error;
    // One file that cannot be shared among others that can (another mount, another setting) says nothing of the rest.
    means.sharing ??= false;
    return false;
  }
}

const unable = ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY', 'EXDEV', 'EINVAL', 'EPERM'];

/** At most `size` bytes of a file. They stay until the next file is read. */
function readUpTo(means: Means, fd: number, size: number): Buffer {
  if (means.memory.length < size) means.memory = Buffer.allocUnsafeSlow(Math.max(size, 256 * 1024));
  let length = 0;
  while (length < size) {
    const read = readSync(fd, means.memory, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return means.memory.subarray(0, length);
}
