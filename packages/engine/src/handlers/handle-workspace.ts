import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { recordDiscarded } from '../domain/transitions/publication.ts';
import { pauseRun } from '../domain/transitions/run-life.ts';
import { recordRestored } from '../domain/transitions/take-over.ts';
import { readError } from '../jobs/infrastructure-error.ts';
import { abortReason, done, HandBack, type JobContext, type JobEnd } from '../jobs/job.ts';
import { append } from '../log/append.ts';
import { readRun } from '../log/read-state.ts';
import { publishRun, sleepOrExpirePublish } from '../publishing/publish-run.ts';
import type { WorkspaceJob } from '../queues/queues.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { releaseUnlessDue } from '../reconcile/release-run.ts';
import { takeTree } from '../trees/take-tree.ts';

/**
 * Does what the log says was asked for of a run's workspace: brings it back to a snapshot, publishes its change set, discards it. All of
 * that may be done again after a crash, and one job per run means that one worker does it.
 * Looks until nothing is asked for any more: a request that comes while this job still exists wakes nobody.
 */
export async function handleWorkspace(deps: WorkerDeps, job: WorkspaceJob, context: JobContext): Promise<JobEnd> {
  for (;;) {
    const run = await readRun(deps.redis, job.run_id);
    if (!run) return done;
    leaveWhenAborted(context);
    if (run.publication === 'discarding') await discard(deps, run);
    else if (run.restore === 'due') await restore(deps, run, context);
    else if (run.publication === 'requested') await publishRun(deps, run, context);
    else if (run.publication === 'parked') {
      const end = await sleepOrExpirePublish(deps, run);
      if (end !== 'again') return end;
    } else if (await releaseUnlessDue(deps, run)) return done;
  }
}

/** When a sleeping job must wake although its time has not come: read this after the job was put to sleep. */
export async function mayPublicationSleep(deps: WorkerDeps, job: WorkspaceJob): Promise<boolean> {
  return (await readRun(deps.redis, job.run_id))?.publication === 'parked';
}

function leaveWhenAborted({ signal }: JobContext): void {
  const reason = abortReason(signal);
  if (reason === 'shutdown') throw new HandBack();
  if (reason === 'lock-lost') throw new Error('the lock of the job was lost; another worker has it');
}

async function discard(deps: WorkerDeps, run: RunState): Promise<void> {
  await deps.workspaces.discard(run.id);
  await append(deps, run.id, recordDiscarded());
}

/**
 * After an attempt in doubt, or an undo: nothing of the run starts before this is done. The tree is always a new one, because whoever
 * worked on the old one may only be frozen.
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
