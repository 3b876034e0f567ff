import { awaitDecision } from '../approvals/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { expirePublish, pauseRun, type RunState, recordDiscarded, recordRestored } from '../domain/index.ts';
import { takeTree } from '../fencing/take-tree.ts';
import { abortReason, done, doneAt, type JobContext, type JobEnd, leaveIfAborted, readError } from '../jobs/index.ts';
import { append, readRun } from '../log/index.ts';
import { publishRun } from '../publishing/publish-run.ts';
import type { WorkspaceJob } from '../queues/queues.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { releaseUnlessDue } from '../reconcile/release-run.ts';

/**
 * Executes the log's requests for a run's workspace: restores a snapshot, publishes the change set, discards the workspace. Each action
 * may run again after a crash. One job per run means one worker at a time. Repeats until nothing is requested: a request that arrives
 * while this job exists adds no job.
 */
export async function handleWorkspace(deps: WorkerDeps, job: WorkspaceJob, context: JobContext): Promise<JobEnd> {
  for (;;) {
    const run = await readRun(deps.redis, job.run_id);
    if (!run) return done;
    leaveIfAborted(context.signal);
    if (run.publication === 'discarding') await discard(deps, run);
    else if (run.restore === 'due') await restore(deps, run, context);
    else if (run.publication === 'requested') await publishRun(deps, run, context);
    else if (run.publication === 'parked') {
      const end = await awaitDecision(deps, run, run.publish_approval, (approval) => expirePublish(run, approval));
      if (end !== 'again') return end;
    } else if (await releaseUnlessDue(deps, run)) return doneAt(run);
  }
}

async function discard(deps: WorkerDeps, run: RunState): Promise<void> {
  await deps.workspaces.discard(run.id);
  await append(deps, run.id, recordDiscarded());
}

/**
 * Runs after an indeterminate attempt or an undo: nothing of the run starts before the restore is done. The tree is always a new tree,
 * because the old tree's writer may only be frozen.
 */
async function restore(deps: WorkerDeps, run: RunState, context: JobContext): Promise<void> {
  try {
    await takeOver(deps, run, context.signal);
  } catch (error) {
    const { problem, retryable } = readError(error);
    const isOpen = run.status === 'running' || run.status === 'waiting';
    if (abortReason(context.signal) === undefined && isOpen && (!retryable || context.lastTry)) {
      await append(deps, run.id, pauseRun(run, problem));
    }
    throw error;
  }
  await reconcile(deps, run.id, context.signal);
}

async function takeOver(deps: WorkerDeps, run: RunState, signal: AbortSignal): Promise<void> {
  const epoch = await takeTree(deps, run, { snapshot: run.snapshot ?? '', signal });
  if (epoch !== undefined) await append(deps, run.id, recordRestored({ ...run, lease: epoch }));
}
