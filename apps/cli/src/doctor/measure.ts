import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A walk over folders with a deadline. Its sums are lower bounds. */
export interface Walk {
  /** Deadline, in milliseconds of `performance.now`. */
  until: number;
  /** False after the deadline, or when something could not be read. */
  complete: boolean;
  /** Disk space of everything so far; a file with several names counts once. */
  bytes: number;
  seen: Set<string>;
}

export const startWalk = (maxMs: number): Walk => ({
  until: performance.now() + maxMs,
  complete: true,
  bytes: 0,
  seen: new Set(),
});

/** Measures the disk space of a folder without following links. @returns undefined after the deadline */
export async function measure(walk: Walk, path: string): Promise<number | undefined> {
  if (isOver(walk)) return undefined;
  let sum = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(walk, folder)) {
      if (isOver(walk)) return sum;
      const below = join(folder, entry.name);
      sum += await count(walk, below);
      if (entry.isDirectory()) folders.push(below);
    }
  }
  return sum;
}

export async function entriesOf(walk: Walk, folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    note(walk, error);
    return [];
  }
}

async function count(walk: Walk, path: string): Promise<number> {
  const status = await lstat(path, { bigint: true }).catch((error: unknown) => note(walk, error));
  if (status === undefined) return 0;
  const space = Number(status.blocks) * 512;
  if (isNew(walk, status)) walk.bytes += space;
  return space;
}

function isNew({ seen }: Walk, { nlink, dev, ino }: BigIntStats): boolean {
  if (nlink < 2n) return true;
  const name = `${dev}:${ino}`;
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

function isOver(walk: Walk): boolean {
  if (performance.now() < walk.until) return false;
  walk.complete = false;
  return true;
}

/** A file lost during the walk takes no space. */
function note(walk: Walk, error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') walk.complete = false;
  return undefined;
}
