import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { directoryId } from '@holdpoint/process/directory';
import { syncPath } from '@holdpoint/process/durable-files';
import { EmbeddedRedisError } from './error.ts';

/** The files of the embedded Redis of a data directory. All paths are absolute. */
export interface RedisPaths {
  /** The server's working directory: the append-only files, the log, the record of the engine. */
  directory: string;
  socket: string;
  pidFile: string;
  logFile: string;
  engineFile: string;
  lock: string;
}

/** A socket address has at most 104 bytes on macOS and 108 on Linux, with the closing zero. */
const longestSocket = 100;

/** Creates the missing directories, for this user alone. */
export async function prepareRedisPaths(dataDir: string): Promise<RedisPaths> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const root = await realpath(dataDir);
  const paths = await findRedisPaths(root);
  for (const directory of [root, paths.directory, path.dirname(paths.socket)]) await makePrivate(directory);
  await syncPath(root);
  await syncPath(path.dirname(root)).catch(unlessForbidden);
  return paths;
}

/** @throws ENOENT when the data directory does not exist */
export async function findRedisPaths(dataDir: string): Promise<RedisPaths> {
  const root = await realpath(dataDir);
  const directory = path.join(root, 'redis');
  return {
    directory,
    socket: socketOf(root),
    pidFile: path.join(directory, 'server.pid'),
    logFile: path.join(directory, 'server.log'),
    engineFile: path.join(directory, 'engine.json'),
    lock: path.join(root, 'redis.starting'),
  };
}

/**
 * A long socket address moves to `/tmp`, not to `TMPDIR`: two shells must find the same socket for the same data. The socket's name is made
 * from the directory, not from the path: a data directory moved away under its server, and a copy in its place, have two sockets. The
 * folder carries the user's id, and `makePrivate` checks its owner, because every user may create names in `/tmp`.
 */
export function socketOf(root: string): string {
  const beside = path.join(root, 'redis.sock');
  if (Buffer.byteLength(beside) <= longestSocket) return beside;
  const name = createHash('sha256')
    .update(directoryId(root) ?? root)
    .digest('hex')
    .slice(0, 32);
  return path.join('/tmp', `holdpoint-${process.getuid?.() ?? 'user'}`, `${name}.sock`);
}

/** The data directory lies below a folder without read permission for this user: the folder's owner made the data directory. */
function unlessForbidden(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EACCES') throw error;
}

async function makePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const before = await lstat(directory);
    if (!before.isDirectory()) throw new Error('it is not a directory');
    if (before.uid !== process.getuid?.()) throw new Error(`it belongs to user ${before.uid}`);
    if ((before.mode & 0o077) !== 0) await chmod(directory, 0o700);
  } catch (cause) {
    throw new EmbeddedRedisError(
      'data_directory_unusable',
      `${directory} cannot be made private to this user: ${cause instanceof Error ? cause.message : cause}`,
      'Choose a data directory of the user who runs Holdpoint.',
      { cause },
    );
  }
}
