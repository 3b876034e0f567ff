import { mkdirSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { openTop } from '../files/open-directory.ts';
import { setFolderOwner } from '../files/set-owner.ts';
import { syncFolder } from '../files/write-durably.ts';
import { createShadow, syncShadow } from '../host-git/shadow.ts';
import { describe, makeTree } from '../materialise/materialise.ts';
import type { Materialised, Progress, SnapshotId } from '../port.ts';
import { createBaseObjects, repositoryMounts } from '../repository/base-objects.ts';
import { checkoutSnapshot } from '../repository/checkout-snapshot.ts';
import { loadRepositories } from '../repository/repositories.ts';
import { createRunFolder } from '../run/create-run-folder.ts';
import { type RunFolder, runFolder } from '../run/run-folder.ts';
import { readRecord, requireRecord, type WorkspaceRecord, writeRecord } from '../run/workspace-record.ts';
import { startScan } from '../snapshot.ts';
import { hashOnly } from '../tree/checkout-tree.ts';
import { assertSnapshot, loadSnapshot } from '../tree/load-snapshot.ts';
import { fromSkips, toSkips } from '../tree/manifest.ts';
import { fileSystemClock } from '../tree/stat-cache.ts';
import { copyHistory } from './copy-history.ts';

interface Input {
  runId: string;
  from: { runId: string; snapshot: SnapshotId };
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

const progressEvery = 200;

/**
 * Makes a run's workspace out of another run's snapshot. As with `materialise`, it is made aside, and a rename is the commit point.
 * The other run's repository is only read; the objects are shared through hard links, so that it may be collected or discarded later.
 */
export async function forkWorkspace(deps: Deps, input: Input): Promise<Materialised> {
  const folder = runFolder(deps.dataDir, input.runId);
  const made = readRecord(folder);
  if (made !== undefined) return describe(deps, folder, made);

  const from = runFolder(deps.dataDir, input.from.runId);
  const origin = requireRecord(from);
  assertSnapshot(from, input.from.snapshot);
  const owner = await deps.allocateOwner(input.runId);
  const placed = await createRunFolder(deps, input.runId, (aside) =>
    make(deps, { ...input, folder: aside, owner, origin, from, snapshot: input.from.snapshot }),
  );
  deps.logger.info({ runId: input.runId, from: from.runId, files: placed.record.files }, 'workspace forked');
  return describe(deps, placed.folder, placed.record);
}

interface Place extends Omit<Input, 'from'> {
  folder: RunFolder;
  owner: WorkspaceRecord['owner'];
  origin: WorkspaceRecord;
  from: RunFolder;
  snapshot: SnapshotId;
}

async function make(deps: Deps, input: Place): Promise<WorkspaceRecord> {
  const { folder, from, origin, owner } = input;
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(deps.git, folder);
  deps.onPoint('fork.folder');
  await copyHistory(deps, { folder, from, origin, snapshot: input.snapshot, signal: input.signal });
  deps.onPoint('fork.objects');
  const grown = await buildTree(deps, input);
  deps.onPoint('fork.filled');
  input.signal?.throwIfAborted();
  const record: WorkspaceRecord = {
    ...origin,
    ...{ run_id: folder.runId, owner, start: input.snapshot },
    created_at: Math.floor(deps.now() / 1000),
    ...grown,
  };
  await syncShadow(folder);
  await writeRecord(folder, record);
  deps.onPoint('fork.record');
  await syncFolder(folder.path);
  return record;
}

async function buildTree(deps: Deps, input: Place): Promise<Pick<WorkspaceRecord, 'files' | 'bytes' | 'left_out'>> {
  const { folder, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  makeTree(deps, folder);
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  const scan = startScan(deps, { folder, state, content: hashOnly, ...(signal && { signal }) });
  const total = { files: 0, bytes: 0 };
  await checkoutSnapshot(deps, {
    ...{ folder, state, target },
    checkout: {
      ...{ git: deps.git, scan, gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
      clock: () => fileSystemClock(folder),
      onWritten: (bytes) => {
        total.files += 1;
        total.bytes += bytes;
        if (total.files % progressEvery === 0) input.onProgress?.({ ...total });
      },
      ...(signal && { signal }),
    },
  });
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    const share = repositoryMounts(input.from).objects;
    await createBaseObjects(deps, { folder, owner: input.owner, baseCommit: repositories.baseCommit, share, signal });
  }
  await state.stats.save(state.known);
  // What the snapshot skipped is not here: that must not look as if the run had removed it.
  const left = fromSkips(input.origin.left_out);
  return { ...total, left_out: toSkips(new Map([...left, ...target.manifest.skipped])) };
}
