import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRemote, type Source, sourceFoldersOf } from '@holdpoint/contract';
import type { Call, Deps, Materialised, Owner } from '../deps.ts';
import { assertFreeSpace, openTree, syncPath } from '../files/index.ts';
import { baseCommitContent, createBaseObjects, createRepository } from '../repository/index.ts';
import * as folders from '../run-folder/index.ts';
import { commitTree } from '../snapshots/snapshot.ts';
import { makeMountPoints, topOf } from '../source/folders/index.ts';
import type { FoundSource } from '../source/git/repository.ts';
import { markShallow } from '../source/git/take-commit.ts';
import { openSourcePool } from '../source/pool/source-pool.ts';
import * as objectStore from '../store/objects/index.ts';
import { createShadow, syncShadow } from '../store/shadow.ts';
import * as trees from '../tree/index.ts';
import { findSource } from './check-source.ts';
import { createRunFolder } from './create-run-folder.ts';
import { type Filled, fillTree } from './fill-tree.ts';
import type { Fill } from './scan-unstored.ts';

/**
 * Makes the run's private copy and its first snapshot in a temporary folder; a rename is the commit point. When the run already has its
 * folder, the call only returns its record.
 *
 * The snapshot is fsynced, the tree is not. After a power failure the head of the tree names another boot, so the tree is rebuilt from the
 * snapshot before anything runs.
 */
export async function materialise(deps: Deps, input: Call<'materialise'>): Promise<Materialised> {
  const folder = folders.runFolder(deps.dataDir, input.runId);
  const made = folders.readRecord(folder);
  if (made !== undefined) return describe(deps, folder, made);

  using watches = new DisposableStack();
  const found = await findSource(deps, { ...input, watches });
  const owner = await deps.allocateOwner(input.runId);
  let first: trees.LoadedSnapshot | undefined;
  const placed = await createRunFolder(deps, input.runId, async (aside) => {
    const record = await make(deps, { ...input, folder: aside, found, owner });
    first = deps.states.of(aside).snapshots.find(({ id }) => id === record.base);
    return record;
  });
  const { files, bytes } = placed.record;
  deps.logger.info({ run_id: input.runId, files, bytes }, 'workspace materialised');
  // Reuse the loaded snapshot: git lists 100,000 files in 70 MB.
  const isOurs = first?.id === placed.record.base;
  return isOurs && first
    ? toMaterialised(placed.folder, placed.record, first)
    : describe(deps, placed.folder, placed.record);
}

type MakeInput = Call<'materialise'> & { folder: folders.RunFolder; found: FoundSource; owner: Owner };

/** Makes the folder of the run and waits until the folder is on disk. */
async function make(deps: Deps, place: MakeInput): Promise<folders.WorkspaceRecord> {
  const { folder, tenant, source, found } = place;
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(folder);
  deps.onPoint('materialise.folder');
  using small = new objectStore.PackStream(folder.shadow);
  using large = new objectStore.PackStream(folder.shadow);
  const assertSpace = () => assertFreeSpace(deps);
  const writerOf = (packs?: { small: objectStore.PackStream; large: objectStore.PackStream }) => {
    return objectStore.createObjectWriter({
      gitDir: folder.shadow,
      known: new Set(),
      assertSpace,
      ...(packs && { packs }),
    });
  };
  const pool = openSourcePool(deps, { tenant, source, found, clock: folder.clock });
  const fill: Fill = { ...place, tenant, content: writerOf({ small, large }), pool, skipped: new Map() };
  const filled = withMountPoints(deps, fill, await fillTree(deps, fill));
  deps.onPoint('materialise.filled');
  const { record, baseCommit } = await takeFirstSnapshot(deps, { fill, writer: writerOf() }, filled);
  const objects = { folder, source: fill.source, owner: fill.owner, baseCommit, signal: fill.signal };
  // With a selection, the shadow repository holds more than the workspace and cannot be shared.
  await createBaseObjects(deps, {
    ...objects,
    share: isWhole(fill.source) ? join(folder.shadow, 'objects') : undefined,
  });
  place.signal?.throwIfAborted();
  await syncShadow(folder);
  await folders.writeRecord(folder, record);
  deps.onPoint('materialise.record');
  await syncPath(folder.path);
  return record;
}

function withMountPoints(deps: Deps, { folder, source, owner }: Fill, filled: Filled): Filled {
  const place = { tree: folder.tree, paths: sourceFoldersOf(source), owner: deps.isRoot ? owner : undefined };
  return { ...filled, root: makeMountPoints({ ...place, root: filled.root }) };
}

/** Whether the workspace contains all fetched files. */
const isWhole = (source: Source): boolean => source.type !== 'git' || (!source.include && !source.exclude);

async function takeFirstSnapshot(
  deps: Deps,
  input: { fill: Fill; writer: objectStore.ObjectWriter },
  filled: Filled,
): Promise<{ record: folders.WorkspaceRecord; baseCommit: string }> {
  const { fill, writer } = input;
  const { folder, found, signal } = fill;
  const { root, tree, commit: source, history } = filled;
  const state = deps.states.of(folder);
  const leftOut = folders.toSkips(
    new Map([...fill.skipped].map(([path, reason]) => [path, { reason, bytes: 0, mtime: '0' }])),
  );
  const seconds = Math.floor((fill.createdAt ?? deps.now()) / 1000);
  if (source !== undefined) writer.commit(source);
  const baseCommit = writer.commit(baseCommitContent({ tree, seconds, source, history }));
  // Earlier commits are not in the shadow repository.
  if (history !== undefined) await markShallow(folder.shadow, baseCommit);
  if (found.type === 'git') await markShallow(folder.shadow, found.commit);
  const counted = { files: filled.files, bytes: filled.bytes };
  const replaced = found.type === 'git' && found.commit !== baseCommit ? found.commit : undefined;
  const boundary = history?.boundary.filter((id) => id !== replaced) ?? [];
  const ownedBy = deps.isRoot ? fill.owner : undefined;
  await createRepository({ tree: folder.tree, root, source: fill.source, baseCommit, boundary, owner: ownedBy });
  const scan = trees.startScan(deps, { folder, state, content: writer, signal });
  scan.hidden.add('.git');
  using top = openTree(folder.tree);
  const repositoriesFound = await trees.scanRepositories(scan, { top, previous: undefined });
  const repositories = await trees.storeRepositories(state, {
    writer,
    found: repositoriesFound,
    previous: undefined,
    baseCommit,
    seconds,
  });
  const manifest = {
    repositories,
    skipped: trees.withLeftOut(filled.unstored, { root, leftOut }),
    empty: objectStore.emptyFolders(root),
    permissions: trees.compact(root, filled.permissions),
  };
  const message = 'materialised';
  const base = await commitTree(deps, { folder, state, writer, root, manifest, parent: null, message, seconds });
  if (found.type === 'git') await objectStore.writeRef(folder.shadow, 'refs/holdpoint/base', found.commit);
  trees.noteObjects(root, state.known);
  await state.stats.save(state.known);
  const record: folders.WorkspaceRecord = {
    format: 1,
    run_id: folder.runId,
    source: fill.source,
    origin: originOf(fill.source, found),
    top: topOf(fill.source),
    tenant: fill.tenant,
    owner: fill.owner,
    created_at: seconds,
    base: base.id,
    base_commit: found.type === 'git' ? found.commit : null,
    left_out: leftOut,
    submodules: filled.submodules,
    ...(filled.lfs_pointers && { lfs_pointers: filled.lfs_pointers }),
    ...counted,
    finished: true,
  };
  return { record, baseCommit };
}

function originOf(source: Source, found: FoundSource): string | null {
  if (found.type === 'empty') return null;
  if (found.type !== 'git') return found.path;
  return isRemote(source) ? source.url : found.repository.gitDir;
}

export async function describe(
  deps: Deps,
  folder: folders.RunFolder,
  record: folders.WorkspaceRecord,
): Promise<Materialised> {
  const state = deps.states.of(folder);
  return toMaterialised(
    folder,
    record,
    await trees.loadSnapshot(deps, { folder, state, id: record.start ?? record.base }),
  );
}

function toMaterialised(
  folder: folders.RunFolder,
  record: folders.WorkspaceRecord,
  first: trees.LoadedSnapshot,
): Materialised {
  const prepared = folders.preparedSnapshot(folder);
  return {
    id: first.id,
    base: prepared ?? record.base,
    prepared: prepared !== undefined,
    parent: record.start === undefined ? null : first.parent,
    files_changed: objectStore.countChanges(undefined, first.root),
    skipped: folders.skippedPaths(first.manifest),
    owner: record.owner,
    files: record.files,
    bytes: record.bytes,
    base_commit: record.base_commit,
    submodules: record.submodules,
    lfs_pointers: record.lfs_pointers,
  };
}
