import type { Call, Deps, FileEntry } from '../deps.ts';
import { createYielder, isWithin, toText } from '../files/index.ts';
import { isWithinAny } from '../publish/index.ts';
import { requireRecord, runFolder } from '../run/index.ts';
import { assertSnapshot } from '../tree/index.ts';
import { checkedPath, manifestOf } from './list-unknown.ts';

/** The files whose content a snapshot holds, in byte order of their paths, at or below `path` if given. */
export async function listFiles(deps: Deps, { runId, snapshot, path }: Call<'files'>): Promise<FileEntry[]> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  assertSnapshot(folder, snapshot);
  const at = path === undefined ? '' : checkedPath(path);
  const args = [`--git-dir=${folder.shadow}`, 'ls-tree', '-r', '-l', '-z', '--full-tree', snapshot];
  const { stdout } = await deps.git.run(args, { maxBytes: 1024 * 1024 * 1024 });
  // A path with unknown content may still have an older entry in the tree.
  const { skipped } = await manifestOf(deps, { runId, snapshot });
  const files: FileEntry[] = [];
  const maybeYield = createYielder();
  for (let from = 0; from < stdout.length; ) {
    const end = stdout.indexOf(0, from);
    const row = stdout.toString('latin1', from, end === -1 ? stdout.length : end);
    const match = /^(\d{6}) blob ([0-9a-f]{40}) +(\d+)\t(.*)$/s.exec(row);
    if (match !== null) {
      const [, mode = '', oid = '', bytes = '', name = ''] = match;
      const isShown = isWithin(name, at) && !isWithinAny(skipped, name);
      if (isShown) files.push({ path: toText(name), mode, oid, bytes: Number(bytes) });
    }
    if (end === -1) break;
    from = end + 1;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  // git lists in byte order.
  return files;
}
