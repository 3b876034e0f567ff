import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, type RunSize, unlessMissing } from '../deps.ts';
import { isMountPoint } from '../layers/index.ts';
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
      tree_bytes: await measureTrees(['trees', 'overlays', 'retired'].map((name) => join(folder.path, name))),
      shadow_bytes: await measure(folder.shadow),
      snapshots: allSnapshots(folder.shadow).length,
    });
  }
  const total = ({ tree_bytes, shadow_bytes }: RunSize) => tree_bytes + shadow_bytes;
  return sizes.sort((a, b) => total(b) - total(a));
}

/** Without mounted trees: a run's writes lie in its overlays, and a layer belongs to many runs. */
async function measureTrees(folders: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const folder of folders) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !isMountPoint(path)) bytes += await measure(path);
    }
  }
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
