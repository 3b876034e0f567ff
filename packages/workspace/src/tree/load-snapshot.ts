import type { Git } from '../host-git/git.ts';
import { withObjectReader } from '../host-git/object-reader.ts';
import { readObjects, readRows } from '../host-git/stream-blobs.ts';
import { treeRows } from '../host-git/tree-rows.ts';
import { type SnapshotId, WorkspaceError } from '../port/workspaces.ts';
import type { RunFolder } from '../run-folder/run-folder.ts';
import { isSnapshot } from '../store/journal/record.ts';
import { type Folder, find, isFolder, readCommit, withEntry } from '../store/objects/index.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { readListing } from './read-listing.ts';

/** A snapshot in memory. `root` holds the manifest's empty folders too. */
export interface LoadedSnapshot {
  readonly id: SnapshotId;
  readonly parent: SnapshotId | null;
  readonly tree: string;
  readonly root: Folder;
  readonly manifest: Manifest;
}

/** The latest snapshots of a run in memory. The whole cache can be read again from the shadow repository. */
export interface SnapshotCache {
  /** Ids of objects needed by a ref of the shadow repository: no collection removes them; not all of them. */
  readonly known: Set<string>;
  /** Latest first, at most two: the parent of the next snapshot and the snapshot before. */
  readonly snapshots: LoadedSnapshot[];
  readonly manifests: Map<string, Manifest>;
  /** The most recently used snapshots of this process, of any run, by id. A fork or a take-over needs the just taken snapshot. */
  readonly recent: Map<string, LoadedSnapshot>;
}

/** A snapshot of 10,000 files takes 3 MB. */
const mostRecent = 4;

export function cacheSnapshot({ snapshots, recent }: SnapshotCache, snapshot: LoadedSnapshot): void {
  keepRecent(recent, mostRecent, snapshot);
  const others = snapshots.filter(({ id }) => id !== snapshot.id);
  snapshots.splice(0, snapshots.length, snapshot, ...others.slice(0, 1));
}

/** Keeps a just used value, and a limited number of others. */
export function keepRecent<Value extends { readonly id: string }>(
  recent: Map<string, Value>,
  most: number,
  value: Value,
): void {
  recent.delete(value.id);
  recent.set(value.id, value);
  for (const oldest of recent.keys()) {
    if (recent.size <= most) break;
    recent.delete(oldest);
  }
}

/** The files whose content the snapshot holds: `root` without the earlier entries of skipped paths. */
export function knownRoot({ root, manifest }: Pick<LoadedSnapshot, 'root' | 'manifest'>): Folder {
  let known = root;
  for (const path of manifest.skipped.keys()) {
    const names = path.split('/');
    if (find(known, names) !== undefined) known = withEntry(known, names, undefined);
  }
  return known;
}

export const hasSnapshot = (folder: RunFolder, id: SnapshotId): boolean => isSnapshot(folder.shadow, id);

/** Throws ESNAPSHOTUNKNOWN unless the run has a snapshot with this id. */
export function assertSnapshot(folder: RunFolder, id: SnapshotId): void {
  if (hasSnapshot(folder, id)) return;
  throw new WorkspaceError('ESNAPSHOTUNKNOWN', `Run ${folder.runId} has no snapshot ${JSON.stringify(id)}.`);
}

/** Reads a snapshot from memory or from the shadow repository. */
export async function loadSnapshot(
  deps: { git: Git },
  input: { folder: RunFolder; state: SnapshotCache; id: SnapshotId },
): Promise<LoadedSnapshot> {
  const { folder, state, id } = input;
  assertSnapshot(folder, id);
  const kept = state.snapshots.find((snapshot) => snapshot.id === id);
  if (kept !== undefined) return kept;
  const recent = state.recent.get(id);
  if (recent !== undefined) {
    // A ref of this repository needs them, too: `assertSnapshot` has seen the ref.
    noteObjects(recent.root, state.known);
    cacheSnapshot(state, recent);
    return recent;
  }

  const { tree, parent: first, message } = readCommit(await commitContent(deps, { gitDir: folder.shadow, id }));
  const manifest = readManifest(message);
  const parent = first === manifest.repositories ? null : first;
  const { root } = await loadTree(deps, { folder, state, treeish: tree });
  for (const path of manifest.empty) addEmptyFolder(root, path.split('/'));
  const loaded = { id, parent, tree, root, manifest };
  cacheSnapshot(state, loaded);
  return loaded;
}

/** The content of a commit, from a kept program where the operation has one. */
export async function commitContent(
  { git }: { git: Git },
  { gitDir, id }: { gitDir: string; id: string },
): Promise<Buffer> {
  if (git.objects === undefined) return (await git.run([`--git-dir=${gitDir}`, 'cat-file', 'commit', id])).stdout;
  let content = Buffer.alloc(0);
  await readObjects(git.objects, { gitDir, names: [id], type: 'commit' }, (_, read) => {
    content = Buffer.from(read);
  });
  return content;
}

/** Reads the manifests of snapshots without their trees. */
export async function readManifests(
  deps: { git: Git },
  input: { folder: RunFolder; state: SnapshotCache; ids: readonly SnapshotId[] },
): Promise<(Manifest | undefined)[]> {
  const { manifests, snapshots } = input.state;
  for (const { id, manifest } of snapshots) manifests.set(id, manifest);
  const missing = [...new Set(input.ids)].filter((id) => !manifests.has(id));
  await readCommits(deps, { gitDir: input.folder.shadow, ids: missing }, (id, { message }) => {
    manifests.set(id, readManifest(message));
  });
  return input.ids.map((id) => manifests.get(id));
}

/** Reads commits one after the other, with one program. */
export async function readCommits(
  deps: { git: Git },
  { gitDir, ids }: { gitDir: string; ids: readonly string[] },
  take: (id: string, commit: ReturnType<typeof readCommit>) => void,
): Promise<void> {
  if (ids.length === 0) return;
  await withObjectReader(deps, async ({ git: { objects } }) => {
    if (objects === undefined) return;
    await readObjects(objects, { gitDir, names: ids, type: 'commit' }, (index, content) => {
      take(ids[index] ?? '', readCommit(content));
    });
  });
}

/** Reads a tree of the shadow repository. Omits names forbidden for files. Submodules become empty folders and are listed. */
export async function loadTree(
  deps: { git: Git },
  input: {
    folder: RunFolder;
    state: SnapshotCache;
    treeish: string;
    isName?: (name: string) => boolean;
    most?: number;
  },
): Promise<{ root: Folder; submodules: { path: string; oid: string }[] }> {
  const { isName, most, treeish } = input;
  const gitDir = input.folder.shadow;
  const { objects } = deps.git;
  const rows =
    objects === undefined
      ? readRows(deps.git, [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-t', '-z', '--full-tree', treeish], { most })
      : treeRows(objects, { gitDir, treeish, most });
  const { root, submodules, oids } = await readListing(rows, { isName });
  for (const oid of oids) input.state.known.add(oid);
  return { root, submodules };
}

/** Adds the ids of everything in a folder needed by a ref of the repository. */
export function noteObjects(folder: Folder, known: Set<string>): void {
  if (typeof folder.oid === 'string') known.add(folder.oid);
  for (const entry of folder.entries.values()) {
    if (isFolder(entry)) noteObjects(entry, known);
    else known.add(entry.oid);
  }
}

/** Adds an empty folder. The ids of the folders above stay valid, because git does not store empty folders. */
export function addEmptyFolder(root: Folder, names: readonly string[]): void {
  let current = root;
  for (const name of names) {
    let child = current.entries.get(name);
    if (child === undefined) {
      child = { entries: new Map(), oid: null };
      current.entries.set(name, child);
    }
    if (!isFolder(child)) return;
    current = child;
  }
}
