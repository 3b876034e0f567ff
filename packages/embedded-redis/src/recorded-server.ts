import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { directoryId } from '@holdpoint/process/directory';
import type { RedisPaths } from './redis-paths.ts';

/**
 * Whether the last server of this data still runs. For a silent socket: the server has not opened the socket yet, or the file was deleted.
 * The pid file of a copied directory names the server of the original, so the function asks the kernel for the working directory of this
 * server.
 */
export async function recordedServerLives({ pidFile, socket, directory }: RedisPaths): Promise<boolean> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (process.platform !== 'linux') return (await commandLineByPs(pid)).includes(socket);
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const worksIn = directoryId(`/proc/${pid}/cwd`);
  if (worksIn !== undefined) return line.includes('unixsocket') && worksIn === directoryId(directory);
  // An argument at first, later a part of the process title set by the server. A longer path must not match.
  return line.includes(`\0${socket}`) || line.includes(`unixsocket:${socket}`);
}

const commandLineByPs = (pid: number): Promise<string> =>
  promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
