import { isTerminal } from '@holdpoint/contract';
import { requestDiscarding } from '../commands/steer-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { EngineError, leaseToDrop, type RunState } from '../domain/index.ts';
import { append, ownerOf, readRawLog, readRun, trackActive } from '../log/index.ts';
import { walkAllRuns } from '../queries/index.ts';
import { isWorkspaceDue } from '../reconcile/release-run.ts';

const day = 24 * 3_600_000;
/** Files that no log refers to stay in the trash for a week: a log that Redis lost may return from a backup. */
const trashMs = 7 * day;
/** A process that writes a blob refers to the blob at once. A day covers a process that was frozen in between. */
const blobIdleMs = day;

/**
 * Discards workspaces past retention, drops only the trees of unpublished change sets past retention, packs the objects of ended runs, and
 * removes files that no log refers to. Never touches files needed by an active run, an unpublished change set, a fork or a log.
 */
export async function collectGarbage(deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  await deps.confirmInstallation();
  const needed = new Set<string>();
  let ended = 0;
  for await (const runId of walkAllRuns(deps)) {
    if (signal.aborted) return;
    for await (const text of readRawLog(deps.redis, runId)) {
      for (const [, sha256 = ''] of text.matchAll(/"sha256":"([0-9a-f]{64})"/g)) needed.add(sha256);
    }
    const run = await readRun(deps.redis, runId);
    // A sweeper with a wrong clock may have removed an active run from the index as abandoned. Or a worker may have died while removing a
    // run whose change set was just requested.
    if (run && (!isTerminal(run.status) || isWorkspaceDue(run))) await trackActive(deps.redis, runId);
    if (!run || !isTerminal(run.status) || !hasWorkspace(run)) continue;
    ended += 1;
    const isDue = isPast(deps, run, ended);
    if (isDue && !isUnpublished(run)) {
      await discard(deps, run);
      continue;
    }
    if (isDue || run.publication === 'published') await dropTree(deps, run);
    await collect(deps, run);
  }
  await deps.confirmInstallation();
  const trashed = await deps.workspaces.tidy({ isKnown: (id) => mayHaveWorkspace(deps, id) });
  const blobs = await deps.blobs.collect({ needed, idleMs: blobIdleMs, trashMs, now: deps.now() });
  const outputs = await removeOutputs(deps);
  deps.logger.info({ ended, trashed, blobs, outputs }, 'maintenance done');
}

/** The output of background commands is removed with the workspace of their run. */
async function removeOutputs(deps: WorkerDeps): Promise<number> {
  let removed = 0;
  for (const taskId of await deps.outputs.list()) {
    const runId = await ownerOf(deps.redis, taskId);
    if (runId === null) {
      await deps.confirmInstallation();
      await deps.outputs.moveToTrash(taskId);
    } else if (!(await mayHaveWorkspace(deps, runId))) {
      await deps.outputs.remove(taskId);
      removed += 1;
    }
  }
  await deps.outputs.emptyTrash({ trashMs, now: deps.now() });
  return removed;
}

/** False for a discarded run: a frozen worker may have made the run's folder again too late. */
async function mayHaveWorkspace(deps: WorkerDeps, runId: string): Promise<boolean> {
  const run = await readRun(deps.redis, runId);
  // Redis may have been emptied or replaced since the last check. Then every run is unknown, and each workspace may be needed.
  if (run === undefined) await deps.confirmInstallation();
  return run !== undefined && run.publication !== 'discarded';
}

const hasWorkspace = ({ base, publication }: RunState): boolean =>
  base !== undefined && publication !== 'discarding' && publication !== 'discarded';

/** @param place of the run among the ended runs with a workspace, the latest is 1 */
function isPast({ retention: { days, runs }, now }: WorkerDeps, run: RunState, place: number): boolean {
  const age = now() - Date.parse(run.ended_at ?? '');
  return (days !== undefined && age > days * day) || (runs !== undefined && place > runs);
}

/** A change set that may still be published. */
const isUnpublished = ({ status, publication, base, snapshot, header }: RunState): boolean =>
  status === 'succeeded' && !header.dry_run && publication !== 'published' && base !== snapshot;

async function discard(deps: WorkerDeps, run: RunState): Promise<void> {
  await requestDiscarding(deps, run.id, 'retention').catch((error: unknown) => {
    // A fork has no copy yet, or another caller was faster: the next round tries again.
    if (!(error instanceof EngineError)) throw error;
  });
}

/**
 * The tree is most of a run's storage. The snapshots stay, so every request stays possible; a request that needs a tree rebuilds the tree.
 */
async function dropTree(deps: WorkerDeps, run: RunState): Promise<void> {
  if (run.publication === 'requested') return;
  try {
    if (!(await deps.workspaces.hasTree(run.id))) return;
    const epoch = Math.max(run.lease, await deps.workspaces.newestEpoch(run.id)) + 1;
    const leased = await append(deps, run.id, leaseToDrop(run, deps.workerId, epoch));
    if (leased.ok) await deps.workspaces.dropTree({ runId: run.id, epoch });
  } catch (error) {
    deps.logger.warn({ run_id: run.id, err: error }, 'the tree of an ended run could not be dropped');
  }
}

async function collect(deps: WorkerDeps, run: RunState): Promise<void> {
  await deps.workspaces.collect(run.id).catch((error: unknown) => {
    deps.logger.warn({ run_id: run.id, err: error }, 'the objects of a run could not be brought together');
  });
}
