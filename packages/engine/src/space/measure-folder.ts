import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Files are measured in groups. After each group comes a rest of this many times the time of the group. */
const filesAtOnce = 200;
const restFactor = 20;

/**
 * Measures the space of a folder on the disk, in bytes, slowly: at most a twentieth of the time. Unreadable files, and files removed during
 * the measurement, count nothing. A file with several names counts once for each.
 * @throws the reason of the signal
 */
export async function measureFolder(path: string, signal: AbortSignal): Promise<number> {
  const folders = [path];
  let bytes = 0;
  let files: string[] = [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder)) {
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else files.push(join(folder, entry.name));
      if (files.length < filesAtOnce) continue;
      bytes += await measureFiles(files, signal);
      files = [];
    }
  }
  return bytes + (await measureFiles(files, signal));
}

async function* entriesOf(folder: string) {
  try {
    yield* await opendir(folder);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR'].includes(String(error.code));

async function measureFiles(files: readonly string[], signal: AbortSignal): Promise<number> {
  const began = performance.now();
  const sizes = await Promise.all(
    files.map((file) =>
      lstat(file).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      ),
    ),
  );
  const took = performance.now() - began;
  await pause(took * restFactor, undefined, { signal });
  return sizes.reduce((sum, size) => sum + size, 0);
}
