import { mkdirSync, statSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { giveFolder } from '../files/give-away.ts';
import { openTop, openTree } from '../files/open-directory.ts';
import { createPace } from '../files/pace.ts';
import { toText } from '../files/path-name.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { createObjectWriter } from '../git-objects/object-writer.ts';
import { createShadow, fetchBase } from '../host-git/shadow.ts';
import type { Materialised, Owner, Progress, SkippedPath, Source } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { runFolder } from '../run/run-folder.ts';
import type { WorkspaceRecord } from '../run/workspace-record.ts';
import { readRecord, writeRecord } from '../run/workspace-record.ts';
import { commitTree, startScan } from '../snapshot.ts';
import { bringTree, hashOnly } from '../tree/bring-tree.ts';
import { loadSnapshot, loadTree } from '../tree/load-snapshot.ts';
import { skippedPaths, withLeftOut } from '../tree/manifest.ts';
import { scanChildren } from '../tree/scan.ts';
import { fileSystemClock } from '../tree/stat-cache.ts';
import type { Folder, Leaf } from '../tree/tree.ts';
import { changesBetween, emptyFolder, emptyFolders, isFolder } from '../tree/tree.ts';
import { extractArchive } from './archive/extract-archive.ts';
import type { FoundSource } from './check-source.ts';
import { findSource } from './check-source.ts';
import { copyDirectory } from './copy-directory.ts';
import { countBytes, countEntry, countFile, type Intake } from './intake.ts';
import { createSelection, everything, selectTree } from './selection.ts';

/**
 * Makes the run's private copy and its first snapshot. `workspace.json` is written last and is the commit point: without it
 * whatever lies in the run's folder is thrown away and made again; with it the call only answers what it says.
 *
 * The tree itself is not fsynced: the snapshot is, and after a power cut a restore mends the tree.
 */
export async function materialise(
  deps: Deps,
  input: { runId: string; source: Source; onProgress?: (progress: Progress) => void; signal?: AbortSignal },
): Promise<Materialised> {
  const folder = runFolder(deps.dataDir, input.runId);
  const made = readRecord(folder);
  if (made !== undefined) return describe(deps, folder, made);

  const found = await findSource(deps, input.source);
  const owner = await deps.allocateOwner(input.runId);
  deps.states.drop(input.runId);
  await removeFolder(folder.path);
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(deps.git, folder);
  mkdirSync(folder.tree, { mode: 0o700 });
  deps.onPoint('materialise.folder');

  const skipped: Skipped = new Map();
  const filled = await fill(deps, { ...input, folder, found, owner, skipped });
  deps.onPoint('materialise.filled');
  const record = await takeFirst(deps, {
    folder,
    source: input.source,
    found,
    owner,
    skipped,
    ...filled,
    signal: input.signal,
  });
  input.signal?.throwIfAborted();
  await syncFolder(folder.path);
  await syncFolder(`${folder.path}/..`);
  await writeRecord(folder, record);
  deps.onPoint('materialise.record');
  deps.logger.info({ runId: input.runId, files: record.files, bytes: record.bytes }, 'workspace materialised');
  return describe(deps, folder, record);
}

type Skipped = Map<string, SkippedPath['reason']>;

interface Filled {
  /** The tree as git knew it before, which keeps its object ids. */
  before: Folder;
  submodules: { path: string; commit: string }[];
}

/** Brings the source's files into the tree. */
async function fill(
  deps: Deps,
  input: {
    folder: RunFolder;
    source: Source;
    found: FoundSource;
    owner: Owner;
    skipped: Skipped;
    onProgress?: (progress: Progress) => void;
    signal?: AbortSignal;
  },
): Promise<Filled> {
  const { folder, found, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  using tree = openTop(folder.tree);
  giveFolder(tree.fd, owner, 0o700);
  const intake: Intake = {
    ...{ owner, limits: deps.limits, skipped: input.skipped, pace: createPace(signal) },
    selection: input.source.type === 'empty' ? everything : createSelection(input.source),
    onProgress: input.onProgress ?? (() => {}),
    ...{ entries: 0, files: 0, bytes: 0, due: performance.now() },
  };
  switch (found.type) {
    case 'empty':
      break;
    case 'directory': {
      const { dev, ino } = statSync(deps.dataDir, { bigint: true });
      await copyDirectory({ ...intake, exclude: { dev, ino } }, { from: found.path, to: folder.tree });
      break;
    }
    case 'archive':
      await extractArchive(intake, { from: found.path, to: folder.tree, signal });
      break;
    case 'git':
      return checkOut(deps, { folder, found, intake, ...(signal && { signal }) });
    default:
      throw found satisfies never;
  }
  return { before: emptyFolder(), submodules: [] };
}

async function checkOut(
  deps: Deps,
  input: { folder: RunFolder; found: Extract<FoundSource, { type: 'git' }>; intake: Intake; signal?: AbortSignal },
): Promise<Filled> {
  const { folder, found, intake, signal } = input;
  await fetchBase(deps.git, { folder, gitDir: found.gitDir, commit: found.commit, ...(signal && { signal }) });
  deps.onPoint('materialise.fetched');
  const state = deps.states.of(folder);
  const loaded = await loadTree(deps, { folder, state, treeish: `${found.commit}^{tree}` });
  const root = selectTree(loaded.root, intake.selection);
  await measure(deps, { folder, root, intake });
  const scan = startScan(deps, { folder, state, content: hashOnly, ...(signal && { signal }) });
  const clock = () => fileSystemClock(folder);
  const where = { gitDir: folder.shadow, tree: folder.tree, clock, owner: intake.owner, keep: () => false };
  const onWritten = () => countFile(intake);
  await bringTree({ git: deps.git, scan, ...where, onWritten, ...(signal && { signal }) }, root);
  const submodules = loaded.submodules.map(({ path, oid }) => ({ path: toText(path), commit: oid }));
  return { before: root, submodules };
}

/** Fails before anything is written when there is too much of it. */
async function measure(deps: Deps, input: { folder: RunFolder; root: Folder; intake: Intake }): Promise<void> {
  const oids = [...leavesOf(input.root)].map(({ oid }) => oid);
  for (const _ of oids) countEntry(input.intake);
  const { stdout } = await deps.git.run(
    [`--git-dir=${input.folder.shadow}`, 'cat-file', '--batch-check=%(objectsize)', '--buffer'],
    {
      input: oids.map((oid) => `${oid}\n`).join(''),
      maxBytes: 1024 * 1024 * 1024,
    },
  );
  for (const size of stdout.toString('latin1').split('\n').slice(0, -1)) countBytes(input.intake, Number(size));
}

function* leavesOf(folder: Folder): Generator<Leaf> {
  for (const entry of folder.entries.values()) {
    if (isFolder(entry)) yield* leavesOf(entry);
    else yield entry;
  }
}

async function takeFirst(
  deps: Deps,
  input: {
    folder: RunFolder;
    source: Source;
    found: FoundSource;
    owner: Owner;
    skipped: Skipped;
    before: Folder;
    submodules: Filled['submodules'];
    signal: AbortSignal | undefined;
  },
): Promise<WorkspaceRecord> {
  const { folder, found } = input;
  const state = deps.states.of(folder);
  const writer = createObjectWriter({ gitDir: folder.shadow, known: state.known });
  const scan = startScan(deps, { folder, state, content: writer, ...(input.signal && { signal: input.signal }) });
  using top = openTree(folder.tree);
  const root = await scanChildren(scan, top, '', input.before);
  const leftOut = skippedPaths({ skipped: input.skipped });
  const manifest = { skipped: withLeftOut(scan.skipped, { root, leftOut }), empty: emptyFolders(root) };
  const seconds = Math.floor(deps.now() / 1000);
  const message = 'materialised';
  const base = await commitTree(deps, { folder, state, writer, root, manifest, parent: null, message, seconds });
  state.stats.save(state.known);
  return {
    format: 1,
    run_id: folder.runId,
    source: input.source,
    origin: found.type === 'git' ? found.gitDir : found.type === 'empty' ? null : found.path,
    owner: input.owner,
    created_at: seconds,
    base: base.id,
    base_commit: found.type === 'git' ? found.commit : null,
    left_out: leftOut,
    submodules: input.submodules,
    files: scan.seen.size,
    bytes: scan.bytes,
    finished: true,
  };
}

export async function describe(deps: Deps, folder: RunFolder, record: WorkspaceRecord): Promise<Materialised> {
  const state = deps.states.of(folder);
  const first = await loadSnapshot(deps, { folder, state, id: record.start ?? record.base });
  return {
    id: first.id,
    base: record.base,
    parent: record.start === undefined ? null : first.parent,
    files_changed: changesBetween(undefined, first.root).length,
    skipped: skippedPaths(first.manifest),
    owner: record.owner,
    files: record.files,
    bytes: record.bytes,
    base_commit: record.base_commit,
    submodules: record.submodules,
  };
}
