import { access, constants } from 'node:fs/promises';
import path from 'node:path';

const names = ['valkey-server', 'redis-server'];

/**
 * Finds the server programs, the preferred first: programs on the search path, then the program unpacked by the set-up into
 * `<projectDir>/.cache/redis`.
 *
 * @param searchPath the value of PATH
 * @returns absolute paths of executable files; empty without any server program
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
