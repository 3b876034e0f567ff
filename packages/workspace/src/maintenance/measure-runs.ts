import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, type RunSize, unlessMissing } from '../deps.ts';
import { ownFolders } from '../drivers/trees.ts';
import { isRunId, runFolder } from '../run-folder/index.ts';
import { allSnapshots } from '../store/journal/index.ts';

/** Disk use of every run's workspace, largest first. Reads the status of every file, in the time of `du`. */
export async function measureRuns(deps: Deps): Promise<RunSize[]> {
  const sizes: RunSize[] = [];
  for (const entry of await entriesOf(join(deps.dataDir, 'runs'))) {
    if (!entry.isDirectory() || !isRunId(entry.name)) continue;
    const folder = runFolder(deps.dataDir, entry.name);
    sizes.push({
      run_id: entry.name,
      tree_bytes: await measureAll(await ownFolders(folder)),
      shadow_bytes: await measure(folder.shadow),
      snapshots: allSnapshots(folder.shadow).length,
    });
  }
  const total = ({ tree_bytes, shadow_bytes }: RunSize) => tree_bytes + shadow_bytes;
  return sizes.sort((a, b) => total(b) - total(a));
}

async function measureAll(folders: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const folder of folders) bytes += await measure(folder);
  return bytes;
}

/** Disk use of a folder and everything below, without following links. Files lost during the walk do not count. */
async function measure(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entriesOf(path)) {
    const below = join(path, entry.name);
    bytes += await lstat(below).then((status) => status.blocks * 512, unlessMissing(0, unmeasurable));
    if (entry.isDirectory()) bytes += await measure(below);
  }
  return bytes;
}

function entriesOf(path: string): Promise<Dirent[]> {
  return readdir(path, { withFileTypes: true }).catch(unlessMissing<Dirent[]>([], unmeasurable));
}

const unmeasurable = ['ENOENT', 'ENOTDIR', 'EACCES'];
