import type { Call, Deps, TreeListing } from '../deps.ts';
import { createYielder, join, toText } from '../files/index.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';
import { changesBetween, type Folder, isFolder, type Leaf, modes } from '../store/objects/index.ts';
import { knownRoot, loadSnapshot } from '../tree/index.ts';

/** The paths of a snapshot with the ids of their contents, or the differences from a snapshot in the memory of this process. */
export async function listTree(deps: Deps, { runId, snapshot, since }: Call<'listing'>): Promise<TreeListing> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  const state = deps.states.of(folder);
  const former = state.snapshots.find(({ id }) => since?.includes(id));
  const root = knownRoot(await loadSnapshot(deps, { folder, state, id: snapshot }));
  if (former !== undefined) {
    const entries = changesBetween(knownRoot(former), root).map(({ path, new: now }) => entryOf(path, now));
    return { since: former.id, entries };
  }
  return { since: null, entries: await entriesOf(root) };
}

const entryOf = (path: string, leaf: Leaf | null): TreeListing['entries'][number] => ({
  path: toText(path),
  oid: leaf?.oid ?? null,
  isLink: leaf?.mode === modes.symlink,
});

async function entriesOf(root: Folder): Promise<TreeListing['entries']> {
  const entries: TreeListing['entries'] = [];
  const maybeYield = createYielder();
  const visit = async (folder: Folder, at: string): Promise<void> => {
    for (const [name, entry] of folder.entries) {
      const path = join(at, name);
      if (isFolder(entry)) await visit(entry, path);
      else entries.push(entryOf(path, entry));
      const pause = maybeYield();
      if (pause !== undefined) await pause;
    }
  };
  await visit(root, '');
  return entries;
}
