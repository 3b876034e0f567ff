import { chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps, Owner } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from '../run-folder/index.ts';
import { createBare } from '../store/shadow.ts';

/**
 * Acts on a new bare repository with another user as a permitted writer. Removed afterwards; when the process dies, the next process removes it with
 * other unfinished work. No git of this process runs inside once the other user could write.
 * @param fill adds to the repository while the repository is still this process's own
 */
export async function withStaging<Result>(
  deps: Deps,
  runId: string,
  act: (folder: string, owner: Owner) => Promise<Result>,
  fill: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<Result> {
  const path = temporaryPath(deps, runId);
  mkdirSync(path, { recursive: true, mode: 0o711 });
  try {
    const folder = join(path, 'staging.git');
    await createBare(folder);
    await fill(folder);
    const owner = await deps.allocateOwner(runId);
    if (deps.isRoot) giveTo(folder, owner);
    return await act(folder, owner);
  } finally {
    await removeFolder(path);
  }
}

function giveTo(path: string, { uid, gid }: Owner): void {
  chownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveTo(join(path, entry.name), { uid, gid });
    // Packs may be shared with the cache, by a link.
    else if (!/^pack-.*\.(pack|idx)$/.test(entry.name)) chownSync(join(path, entry.name), uid, gid);
  }
}
