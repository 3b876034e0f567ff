import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { errnoOf } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';

const hour = 3_600_000;

/**
 * Finishes discards that were interrupted, and removes folders of runs that nobody knows: a process died between making a folder and
 * telling of it. A folder younger than an hour may be about to be told of.
 */
export async function tidyFolders(
  deps: Deps,
  { isKnown }: { isKnown: (runId: string) => Promise<boolean> },
): Promise<string[]> {
  const trash = join(deps.dataDir, 'trash');
  for (const name of await namesOf(trash)) await removeFolder(join(trash, name));
  const removed: string[] = [];
  const runs = join(deps.dataDir, 'runs');
  for (const runId of await namesOf(runs)) {
    const path = join(runs, runId);
    const status = await lstat(path).catch(() => undefined);
    if (status === undefined || deps.now() - status.mtimeMs < hour || (await isKnown(runId))) continue;
    await removeFolder(path);
    removed.push(runId);
  }
  return removed;
}

async function namesOf(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
}
