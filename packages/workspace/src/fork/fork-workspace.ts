import { mkdirSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { giveFolder } from '../files/give-away.ts';
import { openTop } from '../files/open-directory.ts';
import { fromText } from '../files/path-name.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { createShadow } from '../host-git/shadow.ts';
import { describe } from '../materialise/materialise.ts';
import type { Materialised, Progress, SnapshotId } from '../port.ts';
import { type RunFolder, runFolder } from '../run/run-folder.ts';
import { readRecord, requireRecord, type WorkspaceRecord, writeRecord } from '../run/workspace-record.ts';
import { startScan } from '../snapshot.ts';
import { bringTree, hashOnly } from '../tree/bring-tree.ts';
import { assertSnapshot, loadSnapshot } from '../tree/load-snapshot.ts';
import { skippedPaths } from '../tree/manifest.ts';
import { fileSystemClock } from '../tree/stat-cache.ts';
import { takeHistory } from './take-history.ts';

interface Input {
  runId: string;
  from: { runId: string; snapshot: SnapshotId };
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

const progressEvery = 200;

/**
 * Makes a run's workspace out of another run's snapshot. As with `materialise`, `workspace.json` is written last and is the commit point.
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
  deps.states.drop(input.runId);
  await removeFolder(folder.path);
  mkdirSync(folder.path, { recursive: true, mode: 0o711 });
  await createShadow(deps.git, folder);
  deps.onPoint('fork.folder');
  await takeHistory(deps, { folder, from, origin, snapshot: input.from.snapshot, signal: input.signal });
  deps.onPoint('fork.objects');
  const grown = await growTree(deps, { ...input, folder, owner, origin });
  deps.onPoint('fork.filled');
  input.signal?.throwIfAborted();
  await syncFolder(folder.path);
  await syncFolder(`${folder.path}/..`);
  const record: WorkspaceRecord = {
    ...origin,
    ...{ run_id: folder.runId, owner, start: input.from.snapshot },
    created_at: Math.floor(deps.now() / 1000),
    ...grown,
  };
  await writeRecord(folder, record);
  deps.onPoint('fork.record');
  deps.logger.info({ runId: folder.runId, from: from.runId, files: record.files }, 'workspace forked');
  return describe(deps, folder, record);
}

async function growTree(
  deps: Deps,
  input: Input & { folder: RunFolder; owner: WorkspaceRecord['owner']; origin: WorkspaceRecord },
): Promise<Pick<WorkspaceRecord, 'files' | 'bytes' | 'left_out'>> {
  const { folder, signal } = input;
  const owner = deps.isRoot ? input.owner : undefined;
  mkdirSync(folder.tree, { mode: 0o700 });
  using top = openTop(folder.tree);
  giveFolder(top.fd, owner, 0o700);
  const state = deps.states.of(folder);
  const { root, manifest } = await loadSnapshot(deps, { folder, state, id: input.from.snapshot });
  const scan = startScan(deps, { folder, state, content: hashOnly, ...(signal && { signal }) });
  const total = { files: 0, bytes: 0 };
  await bringTree(
    {
      ...{ git: deps.git, scan, gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
      clock: () => fileSystemClock(folder),
      onWritten: (bytes) => {
        total.files += 1;
        total.bytes += bytes;
        if (total.files % progressEvery === 0) input.onProgress?.({ ...total });
      },
      ...(signal && { signal }),
    },
    root,
  );
  state.stats.save(state.known);
  // What the snapshot skipped is not here: that must not look as if the run had removed it.
  const left = new Map(input.origin.left_out.map(({ path, reason }) => [fromText(path), reason]));
  return { ...total, left_out: skippedPaths({ skipped: new Map([...left, ...manifest.skipped]) }) };
}
