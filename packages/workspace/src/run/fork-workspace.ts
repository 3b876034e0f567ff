import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import type { Call, Deps, Materialised, SnapshotId } from '../deps.ts';
import { fromPlain, openTop, setFolderOwner, syncFolder } from '../files/index.ts';
import { formerLayer, keepPlain, type Layer, layerRoot, makeOverlayTree, staysPlain } from '../layers/index.ts';
import { createRunFolder } from '../materialise/create-run-folder.ts';
import { describe } from '../materialise/materialise.ts';
import { checkoutSnapshot, createBaseObjects, repositoryMounts, shareHistory } from '../repository/index.ts';
import {
  fromSkips,
  makeTree,
  preparedSnapshot,
  type RunFolder,
  readRecord,
  requireRecord,
  runFolder,
  toSkips,
  type WorkspaceRecord,
  writeMark,
  writeRecord,
} from '../run-folder/index.ts';
import { startScan } from '../snapshots/snapshot.ts';
import { changesBetween, countChanges } from '../store/objects/index.ts';
import { createShadow, syncShadow } from '../store/shadow.ts';
import {
  assertSnapshot,
  fileSystemClock,
  formerTimes,
  hashOnly,
  hasSnapshot,
  knownRoot,
  type LoadedSnapshot,
  loadRepositories,
  loadSnapshot,
  type RunState,
} from '../tree/index.ts';
import { chooseLayer } from './choose-layer.ts';
import { copyHistory } from './copy-history.ts';
import { knownLayer } from './take-over.ts';

/** Files between two progress reports. */
const progressInterval = 200;

/**
 * Creates a run's workspace from another run's snapshot. As in `materialise`, the workspace is built aside, and a rename is the commit
 * point. The other run's repository is only read; objects are shared through hard links, so a later collection or discard of the other
 * repository does no harm.
 */
export async function forkWorkspace(deps: Deps, input: Call<'fork'>): Promise<Materialised> {
  const folder = runFolder(deps.dataDir, input.runId);
  const existing = readRecord(folder);
  if (existing !== undefined) return describe(deps, folder, existing);

  const from = runFolder(deps.dataDir, input.from.runId);
  const origin = requireRecord(from);
  assertSnapshot(from, input.from.snapshot);
  const owner = await deps.allocateOwner(input.runId);
  const created = await createRunFolder(deps, input.runId, (aside) =>
    buildFork(deps, { ...input, folder: aside, owner, origin, from, snapshot: input.from.snapshot }),
  );
  deps.logger.info({ run_id: input.runId, from: from.runId, files: created.record.files }, 'workspace forked');
  return describe(deps, created.folder, created.record);
}

interface Build extends Omit<Call<'fork'>, 'from'> {
  folder: RunFolder;
  owner: WorkspaceRecord['owner'];
  origin: WorkspaceRecord;
  from: RunFolder;
  snapshot: SnapshotId;
}

async function buildFork(deps: Deps, input: Build): Promise<WorkspaceRecord> {
  const { folder, from, origin, owner } = input;
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(folder);
  deps.onPoint('fork.folder');
  await copyHistory(deps, { folder, from, origin, snapshot: input.snapshot, signal: input.signal });
  await shareHistory(from, folder);
  deps.onPoint('fork.objects');
  const built = await buildTree(deps, input);
  deps.onPoint('fork.filled');
  input.signal?.throwIfAborted();
  const record: WorkspaceRecord = {
    ...origin,
    ...{ run_id: folder.runId, owner, start: input.snapshot },
    created_at: Math.floor((input.createdAt ?? deps.now()) / 1000),
    ...built,
  };
  const prepared = preparedSnapshot(from);
  // A fork from before the preparation's snapshot does not have the snapshot.
  if (prepared !== undefined && hasSnapshot(folder, prepared)) await writeMark(folder, prepared);
  await syncShadow(folder);
  writeFileSync(folder.cacheOrigin, from.runId);
  await writeRecord(folder, record);
  deps.onPoint('fork.record');
  await syncFolder(folder.path);
  return record;
}

async function buildTree(deps: Deps, input: Build): Promise<Pick<WorkspaceRecord, 'files' | 'bytes' | 'left_out'>> {
  const { folder, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  if (staysPlain(input.from)) keepPlain(folder);
  const layer = await chooseLayer(deps, {
    ...{ folder, record: input.origin, state, target, near: formerLayer(input.from), signal },
  });
  if (layer === undefined) makeTree(deps, folder);
  else await makeOverlayTree(deps, { folder, owner: input.owner, layer });
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const scan = startScan(deps, { folder, state, content: hashOnly, signal });
  const known = layer && (await countFiles(deps, { folder, state, target, layer }));
  const total = { files: known?.files ?? 0, bytes: known?.bytes ?? 0 };
  await checkoutSnapshot(deps, {
    ...{ folder, state, target },
    checkout: {
      ...{ git: deps.git, scan, gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
      known: layer && (await knownLayer(deps, { folder, state, target, layer })),
      clock: () => fileSystemClock(folder),
      mtimeOf: formerTimes(input.from),
      onWritten: (bytes, path) => {
        if (known === undefined) total.files += 1;
        if (known === undefined || known.changed.has(path)) total.bytes += bytes;
        if (total.files % progressInterval === 0) input.onProgress?.({ ...total });
      },
      signal,
    },
  });
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    const share = repositoryMounts(input.from).objects;
    const { source } = input.origin;
    const { baseCommit } = repositories;
    await createBaseObjects(deps, { folder, source, owner: input.owner, baseCommit, share, signal });
  }
  await state.stats.save(state.known);
  // Skipped files are absent from a fork. They count as left out: otherwise the run would seem to have removed them.
  const leftOut = fromSkips(input.origin.left_out);
  return { ...total, left_out: toSkips(new Map([...leftOut, ...target.manifest.skipped])) };
}

/** All files, the bytes of the layer's files kept by the target, and the paths of the others. */
async function countFiles(
  deps: Deps,
  input: { folder: RunFolder; state: RunState; target: LoadedSnapshot; layer: Layer },
): Promise<{ files: number; bytes: number; changed: ReadonlySet<string> }> {
  const { target, layer } = input;
  const root = knownRoot(target);
  let { bytes } = layer.counts;
  const changes = changesBetween(await layerRoot(deps, input), root);
  for (const { path, old } of changes) {
    const at = Buffer.from(`${fromPlain(layer.root)}/${path}`, 'latin1');
    if (old !== null) bytes -= lstatSync(at, { throwIfNoEntry: false })?.size ?? 0;
  }
  return { files: countChanges(undefined, root), bytes, changed: new Set(changes.map(({ path }) => path)) };
}
