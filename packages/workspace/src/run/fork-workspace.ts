import { mkdirSync, writeFileSync } from 'node:fs';
import { type Call, type Deps, errnoOf, type Materialised, type SnapshotId, WorkspaceError } from '../deps.ts';
import { makeTree } from '../drivers/trees.ts';
import { openTop, setFolderOwner, syncPath } from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import { readPieces } from '../host-git/stream-blobs.ts';
import { createRunFolder } from '../materialise/create-run-folder.ts';
import { describe } from '../materialise/materialise.ts';
import { checkoutSnapshot, createBaseObjects, repositoryMounts, shareHistory } from '../repository/index.ts';
import * as folders from '../run-folder/index.ts';
import { isSnapshot, listSnapshots } from '../store/journal/index.ts';
import { linkObjects } from '../store/link-objects.ts';
import { writeRef } from '../store/objects/index.ts';
import { createShadow, syncShadow } from '../store/shadow.ts';
import * as tree from '../tree/index.ts';
import { shareOutputs } from './keep-output.ts';

interface Input {
  folder: folders.RunFolder;
  from: folders.RunFolder;
  origin: folders.WorkspaceRecord;
  snapshot: SnapshotId;
  signal?: AbortSignal;
}

/** How often a collection of the other repository may interfere. */
const maxRounds = 10;

/**
 * Copies a snapshot and all earlier ones: objects first, then, once git has verified them, the list of snapshots. Reads only files of the other run, and
 * git runs only on the new repository, so the other run can be written, collected or discarded at the same time.
 */
async function copyHistory(deps: Deps, input: Input): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await copyOnce(deps, input);
    } catch (error) {
      input.signal?.throwIfAborted();
      folders.requireRecord(input.from);
      tree.assertSnapshot(input.from, input.snapshot);
      const isTransient =
        errnoOf(error) === 'ENOENT' || (error instanceof WorkspaceError && error.code === 'EGITFAILED');
      if (!isTransient || round === maxRounds) throw error;
    }
  }
}

async function copyOnce(deps: Deps, { folder, from, origin, snapshot, signal }: Input): Promise<void> {
  await linkObjects(from.shadow, folder.shadow);
  deps.onPoint('fork.linked');
  if (origin.base_commit !== null) await writeRef(folder.shadow, 'refs/holdpoint/base', origin.base_commit);
  const base = origin.base_commit === null ? [] : [origin.base_commit];
  const tips = [...base, '--end-of-options', snapshot, origin.base];
  const reached = await checkObjects(deps.git, { gitDir: folder.shadow, tips, signal });
  await listSnapshots(
    folder.shadow,
    reached.filter((id) => isSnapshot(from.shadow, id)),
  );
  tree.assertSnapshot(folder, snapshot);
  tree.assertSnapshot(folder, origin.base);
}

/**
 * Lets git find every object behind some commits. git lists the commits first, an id a line; the lines of the objects behind have a space
 * and are not kept: there may be millions.
 * @returns the commits
 */
async function checkObjects(
  git: Git,
  { gitDir, tips, signal }: { gitDir: string; tips: readonly string[]; signal: AbortSignal | undefined },
): Promise<string[]> {
  const args = [`--git-dir=${gitDir}`, 'rev-list', '--objects', ...tips];
  let text = '';
  let isOver = false;
  for await (const piece of readPieces(git, args, { signal })) {
    if (isOver) continue;
    text += piece.toString('latin1');
    isOver = text.includes(' ');
  }
  return text.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line));
}

/** Files between two progress reports. */
const progressInterval = 200;

/**
 * Creates a run's workspace from another run's snapshot. As in `materialise`, the workspace is built aside, and a rename is the commit
 * point. The other run's repository is only read; objects are shared through hard links, so a later collection or discard of the other
 * repository does no harm.
 */
export async function forkWorkspace(deps: Deps, input: Call<'fork'>): Promise<Materialised> {
  const folder = folders.runFolder(deps.dataDir, input.runId);
  const existing = folders.readRecord(folder);
  if (existing !== undefined) return describe(deps, folder, existing);

  const from = folders.runFolder(deps.dataDir, input.from.runId);
  const origin = folders.requireRecord(from);
  tree.assertSnapshot(from, input.from.snapshot);
  const owner = await deps.allocateOwner(input.runId);
  const created = await createRunFolder(deps, input.runId, (aside) =>
    buildFork(deps, { ...input, folder: aside, owner, origin, from, snapshot: input.from.snapshot }),
  );
  deps.logger.info({ run_id: input.runId, from: from.runId, files: created.record.files }, 'workspace forked');
  return describe(deps, created.folder, created.record);
}

interface Build extends Omit<Call<'fork'>, 'from'> {
  folder: folders.RunFolder;
  owner: folders.WorkspaceRecord['owner'];
  origin: folders.WorkspaceRecord;
  from: folders.RunFolder;
  snapshot: SnapshotId;
}

async function buildFork(deps: Deps, input: Build): Promise<folders.WorkspaceRecord> {
  const { folder, from, origin, owner } = input;
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(folder);
  deps.onPoint('fork.folder');
  await copyHistory(deps, { folder, from, origin, snapshot: input.snapshot, signal: input.signal });
  await shareHistory(from, folder);
  await shareOutputs(deps, from, folder, owner);
  deps.onPoint('fork.objects');
  const built = await buildTree(deps, input);
  deps.onPoint('fork.filled');
  input.signal?.throwIfAborted();
  const record: folders.WorkspaceRecord = {
    ...origin,
    ...{ run_id: folder.runId, owner, start: input.snapshot },
    created_at: Math.floor((input.createdAt ?? deps.now()) / 1000),
    ...built,
  };
  const prepared = folders.preparedSnapshot(from);
  // A fork from before the preparation's snapshot does not have the snapshot.
  if (prepared !== undefined && tree.hasSnapshot(folder, prepared)) await folders.writeMark(folder, prepared);
  await syncShadow(folder);
  writeFileSync(folder.cacheOrigin, from.runId);
  await folders.writeRecord(folder, record);
  deps.onPoint('fork.record');
  await syncPath(folder.path);
  return record;
}

async function buildTree(
  deps: Deps,
  input: Build,
): Promise<Pick<folders.WorkspaceRecord, 'files' | 'bytes' | 'left_out'>> {
  const { folder, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  const state = deps.states.of(folder);
  const target = await tree.loadSnapshot(deps, { folder, state, id: input.snapshot });
  // Other users may traverse the folder of trees but not list its content.
  mkdirSync(`${folder.path}/trees`, { mode: 0o711 });
  const made = await makeTree(deps, {
    ...{ folder, record: input.origin, owner: input.owner, state, target },
    ...{ near: input.from, origin: input.from, signal },
  });
  folders.createHead(folder, deps.holder);
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const scan = tree.startScan(deps, { folder, state, content: tree.hashOnly, signal });
  const known = await made.count();
  const total = { files: known?.files ?? 0, bytes: known?.bytes ?? 0 };
  await checkoutSnapshot(deps, {
    ...{ folder, state, target },
    checkout: {
      ...{ git: deps.git, scan, gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
      known: made.known,
      clock: () => tree.fileSystemClock(folder),
      mtimeOf: tree.formerTimes(input.from),
      onWritten: (bytes, path) => {
        if (known === undefined) total.files += 1;
        if (known === undefined || known.changed.has(path)) total.bytes += bytes;
        if (total.files % progressInterval === 0) input.onProgress?.({ ...total });
      },
      signal,
    },
  });
  const repositories = await tree.loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    const share = repositoryMounts(input.from).objects;
    const { source } = input.origin;
    const { baseCommit } = repositories;
    await createBaseObjects(deps, { folder, source, owner: input.owner, baseCommit, share, signal });
  }
  await state.stats.save(state.known);
  // Skipped files are absent from a fork. They count as left out: otherwise the run would seem to have removed them.
  const leftOut = folders.fromSkips(input.origin.left_out);
  return { ...total, left_out: folders.toSkips(new Map([...leftOut, ...target.manifest.skipped])) };
}
