import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { SecretError } from './errors.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/**
 * Reads a file readable for this user alone. A link is not followed.
 * @throws SecretError `ESECRETACCESS`; ENOENT is not wrapped
 */
export function readPrivateFile(path: string): { content: Buffer; stats: Stats } {
  const fd = openOwn(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw refused(path, 'is no regular file', 'Replace it with a file.');
    assertPrivate(path, stats, '600');
    return { content: readFileSync(fd), stats };
  } finally {
    closeSync(fd);
  }
}

/** Checks that only this user can exchange files in a folder. @throws SecretError `ESECRETACCESS` */
export function checkPrivateFolder(path: string): void {
  const fd = openOwn(path, O_RDONLY | O_DIRECTORY);
  try {
    const stats = fstatSync(fd);
    assertOwner(path, stats);
    if ((stats.mode & 0o022) !== 0) throw refused(path, 'lets other users change it', `Run: chmod 700 ${path}`);
  } finally {
    closeSync(fd);
  }
}

function openOwn(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw cause;
    if (code === 'ELOOP') throw refused(path, 'is a link', 'Replace it with the file itself.', cause);
    throw refused(path, `cannot be read (${code})`, 'Let the user that runs this process read it.', cause);
  }
}

function assertPrivate(path: string, stats: Stats, mode: string): void {
  assertOwner(path, stats);
  if ((stats.mode & 0o177) === 0) return;
  const actual = (stats.mode & 0o777).toString(8).padStart(4, '0');
  throw refused(path, `has the mode ${actual}: other users may read it`, `Run: chmod ${mode} ${path}`);
}

function assertOwner(path: string, { uid }: Stats): void {
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  throw refused(path, 'belongs to another user', `Run: chown ${own} ${path}`);
}

function refused(path: string, problem: string, next: string, cause?: unknown): SecretError {
  return new SecretError('ESECRETACCESS', `${path} ${problem}.`, { next, cause });
}
