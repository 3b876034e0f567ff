import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { RedisPaths } from './redis-paths.ts';

/**
 * Whether the last server of this data still runs, by its process id and its command line, which shows the socket. For a socket that does
 * not answer: the server has not opened it yet, or the file was deleted.
 */
export async function recordedServerLives(paths: RedisPaths): Promise<boolean> {
  const pid = Number(await readFile(paths.pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return (await commandLine(pid)).includes(paths.socket);
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}
