import type { Deps } from '../deps.ts';
import { isDotGit, join, toText } from '../files/path-name.ts';
import { blobSizes } from '../host-git/blob-sizes.ts';
import type { LeftOut, SnapshotId } from '../port.ts';
import { loadRepositories } from '../repository/repositories.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { loadSnapshot, readManifests } from '../tree/load-snapshot.ts';
import { changesBetween, emptyFolder, type Folder, isFolder } from '../tree/tree.ts';
import { fold } from './summarise.ts';

/**
 * The `.git` entries that differ between two snapshots. A person sees that there are some: a repository that a command made has a
 * configuration of its own, which can run programs in it.
 */
export async function changedRepositories(
  deps: Deps,
  input: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<LeftOut[]> {
  const { folder } = input;
  const state = deps.states.of(folder);
  const ids = [input.from, input.to];
  const [before, after] = await readManifests(deps, { folder, state, ids });
  if (before?.repositories === after?.repositories) return [];
  const [from = emptyFolder(), to = emptyFolder()] = await Promise.all(ids.map((id) => rootOf(deps, folder, id)));
  const changes = changesBetween(from, to);
  const oids = changes.flatMap(({ new: leaf }) => (leaf === null ? [] : [leaf.oid]));
  const sizes = await blobSizes(deps, { gitDir: folder.shadow, oids });
  const found = new Map<string, LeftOut>();
  for (const { path, new: leaf } of changes) {
    const at = nameOf(path, [from, to]);
    const one = found.get(at) ?? { path: toText(at), reason: 'repository', files: 0, bytes: 0 };
    const bytes = one.bytes + (sizes.get(leaf?.oid ?? '') ?? 0);
    found.set(at, { ...one, files: one.files + 1, bytes });
  }
  return fold([...found.values()]);
}

async function rootOf(deps: Deps, folder: RunFolder, id: SnapshotId): Promise<Folder> {
  const state = deps.states.of(folder);
  const snapshot = await loadSnapshot(deps, { folder, state, id });
  return (await loadRepositories(deps, { folder, state, snapshot }))?.root ?? emptyFolder();
}

/** The `.git` entry that a path belongs to, with a slash at its end where it is a folder. */
function nameOf(path: string, roots: readonly Folder[]): string {
  let at = '';
  let folders = [...roots];
  for (const name of path.split('/')) {
    at = join(at, name);
    folders = folders.map(({ entries }) => entries.get(name)).filter(isFolder);
    if (isDotGit(name)) break;
  }
  return folders.length > 0 ? `${at}/` : at;
}
