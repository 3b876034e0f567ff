import { access, constants } from 'node:fs/promises';
import path from 'node:path';

const names = ['valkey-server', 'redis-server'];

/**
 * Finds the servers that may be started, the preferred first: those on a search path, then the one that the set-up unpacked into
 * `<projectDir>/.cache/redis`.
 *
 * @param searchPath the value of PATH
 * @returns absolute paths of executable files; empty when there is none
 */
export async function findRedisBinaries(searchPath: string | undefined, projectDir: string): Promise<string[]> {
  const directories = (searchPath ?? '').split(path.delimiter).filter(path.isAbsolute);
  const candidates = [...directories, path.join(projectDir, '.cache/redis/bin')].flatMap((directory) =>
    names.map((name) => path.join(directory, name)),
  );
  const found = await Promise.all(candidates.map(isExecutable));
  return [...new Set(candidates.filter((_, i) => found[i]))];
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
