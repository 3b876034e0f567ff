import { ForbiddenChange } from '@holdpoint/contract';
import { type Call, type Deps, type Snapshot, WorkspaceError } from '../deps.ts';
import { useTree } from '../drivers/trees.ts';
import * as files from '../files/index.ts';
import { assertCurrent, type RunFolder, requireRecord, runFolder, skippedPaths } from '../run-folder/index.ts';
import { commitSnapshot, snapshotRef } from '../store/journal/index.ts';
import * as objectStore from '../store/objects/index.ts';
import * as trees from '../tree/index.ts';
import { type CheckedContent, checkedContent } from './checked-content.ts';
import { changesOf } from './compare.ts';

/**
 * Commits the current tree. The snapshot is on disk when this returns. Fails closed: a read error that is no reason to skip the
 * path fails the whole snapshot.
 */
export async function takeSnapshot(deps: Deps, input: Call<'snapshot'>): Promise<Snapshot> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertCurrent(folder);
  const tree = await useTree(deps, folder);
  const paths = input.paths?.map(bytePath);
  const state = deps.states.of(folder);
  const parent = await trees.loadSnapshot(deps, { folder, state, id: input.parent });
  const writer = objectStore.createObjectWriter({
    gitDir: folder.shadow,
    known: state.known,
    assertSpace: () => files.assertFreeSpace(deps),
  });
  const { usual } = parent.manifest.permissions;
  const learn = input.isShared !== true;
  const checked = input.check && checkedContent(writer, input.check);
  const scan = trees.startScan(deps, { folder, state, content: checked?.content ?? writer, usual, learn });

  using top = tree.open();
  const root =
    paths === undefined
      ? await tree.scan({ state, scan, top }, parent.root)
      : await rescan(scan, { top, root: parent.root, paths });
  const skipped = paths === undefined ? scan.skipped : mergeSkipped(parent.manifest, scan, paths);
  const repositories =
    paths === undefined
      ? await captureRepositories(deps, {
          folder,
          state,
          writer,
          scan,
          top,
          parent,
          checked,
          seconds: record.created_at,
        })
      : parent.manifest.repositories;
  const manifest = {
    skipped: trees.withLeftOut(skipped, { root, leftOut: record.left_out }),
    empty:
      paths === undefined
        ? objectStore.emptyFolders(root)
        : objectStore.emptyFoldersSince({ root: parent.root, empty: parent.manifest.empty }, root),
    permissions: mergePermissions(parent.manifest.permissions, scan, paths),
    repositories,
  };
  checked?.assertClean([...manifest.empty, ...manifest.skipped.keys()]);
  deps.onPoint('snapshot.scanned');
  assertCurrent(folder);
  if (input.forbids !== undefined) {
    const both = await Promise.all(
      [parent, { manifest }].map((snapshot) => trees.loadRepositories(deps, { folder, state, snapshot })),
    );
    const changed = changesOf(parent, { root, manifest }, both).map(([path]) => files.toText(path));
    const forbidden = changed.filter(input.forbids);
    if (forbidden.length > 0) throw new ForbiddenChange(forbidden);
  }
  const taken = await commitTree(deps, {
    folder,
    state,
    writer,
    root,
    manifest,
    parent,
    message: input.message,
    seconds: record.created_at,
  });
  if (paths === undefined) {
    state.stats.retain(scan.seen);
    await state.stats.save(state.known);
    deps.looks.looked(folder);
  }
  return taken;
}

/** The `.git` entries that the walk met, as a commit. */
async function captureRepositories(
  deps: Deps,
  input: {
    folder: RunFolder;
    state: trees.RunState;
    writer: objectStore.ObjectWriter;
    scan: trees.Scan;
    top: files.Directory;
    parent: trees.LoadedSnapshot;
    checked: CheckedContent | undefined;
    seconds: number;
  },
): Promise<string | undefined> {
  const previous = await trees.loadRepositories(deps, { ...input, snapshot: input.parent });
  if (previous === undefined) return undefined;
  const found = await trees.scanRepositories(input.scan, { top: input.top, previous: previous.root });
  input.checked?.assertClean([]);
  return trees.storeRepositories(input.state, { ...input, found, previous, baseCommit: previous.baseCommit });
}

/** A larger change is written once, as a pack of its own. */
const mostJournaledBytes = 1024 * 1024;

/** Writes tree and commit, and makes the snapshot durable. Returns the parent when nothing differs from it. */
export async function commitTree(
  deps: Pick<Deps, 'holder' | 'onPoint' | 'logger'>,
  input: {
    folder: RunFolder;
    state: trees.RunState;
    writer: objectStore.ObjectWriter;
    root: objectStore.Folder;
    manifest: trees.Manifest;
    parent: trees.LoadedSnapshot | null;
    message: string;
    seconds: number;
  },
): Promise<Snapshot> {
  const { folder, state, writer, root, manifest, parent } = input;
  const skipped = skippedPaths(manifest);
  const changed = objectStore.countChanges(parent?.root, root);
  if (parent !== null && changed === 0 && trees.isSameManifest(parent.manifest, manifest)) {
    return { id: parent.id, parent: parent.parent, files_changed: 0, skipped };
  }
  const tree = await writer.root(root);
  const message = trees.snapshotMessage(input.message, manifest);
  const secondParent = manifest.repositories;
  const id = writer.commit({ tree, parent: parent?.id ?? null, secondParent, seconds: input.seconds, message });
  // The first snapshot lies in a folder that is still being made.
  const objects = parent === null ? undefined : writer.take(mostJournaledBytes);
  if (objects !== undefined) {
    await commitSnapshot(deps, folder, { id, objects });
  } else {
    await writer.flush();
    deps.onPoint('snapshot.objects');
    await objectStore.writeRef(folder.shadow, snapshotRef(id), id);
    deps.onPoint('snapshot.ref');
  }
  writer.markReferenced();
  trees.cacheSnapshot(state, { id, parent: parent?.id ?? null, tree, root, manifest });
  return { id, parent: parent?.id ?? null, files_changed: changed, skipped };
}

/** Scans only the given paths. */
async function rescan(
  scan: trees.Scan,
  input: { top: files.Directory; root: objectStore.Folder; paths: readonly string[] },
): Promise<objectStore.Folder> {
  let root = input.root;
  for (const path of input.paths) {
    if (path === '') return trees.scanChildren(scan, input.top, '', root);
    const next = await rescanPath(
      scan,
      { directory: files.openTop(input.top.self), folder: root, path: '' },
      path.split('/'),
    );
    if (objectStore.isFolder(next)) root = next;
  }
  return root;
}

/** Scans one path below a folder and returns the new folder. Closes `at.directory`. */
async function rescanPath(
  scan: trees.Scan,
  at: { directory: files.Directory; folder: objectStore.Entry | undefined; path: string },
  names: readonly string[],
): Promise<objectStore.Folder> {
  using directory = at.directory;
  const [name = '', ...rest] = names;
  const path = files.join(at.path, name);
  if (files.isDotGit(name) && objectStore.isFolder(at.folder)) return at.folder;
  const before = objectStore.isFolder(at.folder) ? at.folder.entries.get(name) : undefined;
  const below = { directory, name, path };
  const isDirectory = rest.length > 0 && files.statIn(directory, name)?.isDirectory() === true;
  // scanEntry notes a folder that cannot be read.
  const opened = isDirectory ? trees.openReadable(below) : undefined;
  const entry =
    opened === undefined
      ? await trees.scanEntry(scan, below, before)
      : await rescanPath(scan, { directory: opened, folder: before, path }, rest);
  if (entry === before && objectStore.isFolder(at.folder)) return at.folder;
  return objectStore.withEntry(objectStore.isFolder(at.folder) ? at.folder : { entries: new Map() }, [name], entry);
}

/** The parent's skipped paths outside `paths`, and those of this scan. */
function mergeSkipped(parent: trees.Manifest, scan: trees.Scan, paths: readonly string[]): trees.Manifest['skipped'] {
  const elsewhere = [...parent.skipped].filter(([path]) => !paths.some((known) => files.isWithin(path, known)));
  return new Map([...elsewhere, ...scan.skipped]);
}

/** The parent's permissions outside `paths`, and those of this scan. */
function mergePermissions(
  parent: trees.Permissions,
  scan: trees.Scan,
  paths: readonly string[] | undefined,
): trees.Permissions {
  const { usual } = parent;
  const elsewhere =
    paths === undefined
      ? []
      : [...parent.others].filter(([path]) => !paths.some((known) => files.isWithin(path, known)));
  const others = new Map([...elsewhere, ...scan.permissions]);
  return trees.isSamePermissions({ usual, others }, parent) ? parent : { usual, others };
}

function bytePath(path: string): string {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (path.startsWith('/') || path.includes('\0') || names.includes('..')) {
    throw new WorkspaceError('EPATHINVALID', `${JSON.stringify(path)} does not lie in the workspace.`);
  }
  return files.fromPlain(names.join('/'));
}
