import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { RedisPaths } from './redis-paths.ts';

/**
 * Whether the server that was started last on this data still lives, by its process id and command line, which shows
 * the socket. Needed where the socket does not answer: in the moment before it is opened, or after somebody deleted it.
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
