import { mkdirSync, statSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { giveFolder } from '../files/give-away.ts';
import { openTop, openTree } from '../files/open-directory.ts';
import { createPace } from '../files/pace.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { createObjectWriter } from '../git-objects/object-writer.ts';
import { createShadow, fetchBase } from '../host-git/shadow.ts';
import type { Materialised, Owner, SkippedPath, Source } from '../port.ts';
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
import type { Folder } from '../tree/tree.ts';
import { changesBetween, emptyFolder, emptyFolders } from '../tree/tree.ts';
import type { FoundSource } from './check-source.ts';
import { findSource } from './check-source.ts';
import { copyDirectory } from './copy-directory.ts';

/**
 * Makes the run's private copy and its first snapshot. `workspace.json` is written last and is the commit point: without it
 * whatever lies in the run's folder is thrown away and made again; with it the call only answers what it says.
 *
 * The tree itself is not fsynced: the snapshot is, and after a power cut a restore mends the tree.
 */
export async function materialise(
  deps: Deps,
  input: { runId: string; source: Source; signal?: AbortSignal },
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
  const before = await fill(deps, { folder, found, owner, skipped, signal: input.signal });
  deps.onPoint('materialise.filled');
  const record = await takeFirst(deps, {
    folder,
    source: input.source,
    found,
    owner,
    skipped,
    before,
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

/** Brings the source's files into the tree. Answers with the tree as git knew it before, which keeps its object ids. */
async function fill(
  deps: Deps,
  input: { folder: RunFolder; found: FoundSource; owner: Owner; skipped: Skipped; signal: AbortSignal | undefined },
): Promise<Folder> {
  const { folder, found, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  using tree = openTop(folder.tree);
  giveFolder(tree.fd, owner, 0o700);
  switch (found.type) {
    case 'empty':
      return emptyFolder();
    case 'directory': {
      const { dev, ino } = statSync(deps.dataDir, { bigint: true });
      const copy = { owner, pace: createPace(signal), maxEntries: deps.limits.entries, exclude: { dev, ino } };
      await copyDirectory({ ...copy, entries: 0, skipped: input.skipped }, { from: found.path, to: folder.tree });
      return emptyFolder();
    }
    case 'git': {
      await fetchBase(deps.git, { folder, gitDir: found.gitDir, commit: found.commit, ...(signal && { signal }) });
      deps.onPoint('materialise.fetched');
      const state = deps.states.of(folder);
      const { root } = await loadTree(deps, { folder, state, treeish: `${found.commit}^{tree}` });
      const scan = startScan(deps, { folder, state, content: hashOnly, ...(signal && { signal }) });
      const clock = () => fileSystemClock(folder);
      const where = { gitDir: folder.shadow, tree: folder.tree, clock, owner, keep: () => false };
      await bringTree({ git: deps.git, scan, ...where, ...(signal && { signal }) }, root);
      return root;
    }
    default:
      throw found satisfies never;
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
    origin: found.type === 'git' ? found.gitDir : found.type === 'directory' ? found.path : null,
    owner: input.owner,
    created_at: seconds,
    base: base.id,
    base_commit: found.type === 'git' ? found.commit : null,
    left_out: leftOut,
    files: scan.seen.size,
    bytes: scan.bytes,
    finished: true,
  };
}

async function describe(deps: Deps, folder: RunFolder, record: WorkspaceRecord): Promise<Materialised> {
  const state = deps.states.of(folder);
  const base = await loadSnapshot(deps, { folder, state, id: record.base });
  return {
    id: record.base,
    parent: null,
    files_changed: changesBetween(undefined, base.root).length,
    skipped: skippedPaths(base.manifest),
    owner: record.owner,
    files: record.files,
    bytes: record.bytes,
    base_commit: record.base_commit,
  };
}
