import type { Call, Deps, FileEntry } from '../deps.ts';
import { isWithin, isWithinAny, toText } from '../files/index.ts';
import { readRows } from '../host-git/read-rows.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';
import { assertSnapshot } from '../tree/index.ts';
import { checkedPath, manifestOf } from './list-unknown.ts';

/** The files whose content a snapshot holds, in byte order of their paths, at or below `path` if given. */
export async function listFiles(deps: Deps, { runId, snapshot, path }: Call<'files'>): Promise<FileEntry[]> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  const at = path === undefined ? '' : checkedPath(path);
  const args = [`--git-dir=${folder.shadow}`, 'ls-tree', '-r', '-l', '-z', '--full-tree', snapshot];
  // A path with unknown content may still have an older entry in the tree.
  const { skipped } = await manifestOf(deps, { runId, snapshot });
  const files: FileEntry[] = [];
  for await (const rows of readRows(deps.git, args)) {
    for (const row of rows) {
      const match = /^(\d{6}) blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(row);
      if (match === null) continue;
      const [, mode = '', oid = '', bytes = '', name = ''] = match;
      const isShown = isWithin(name, at) && !isWithinAny(skipped, name);
      if (isShown) files.push({ path: toText(name), mode, oid, bytes: Number(bytes) });
    }
  }
  // git lists in byte order.
  return files;
}
