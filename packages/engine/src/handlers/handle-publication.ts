import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { recordConflict, recordDiscarded, recordPublished } from '../domain/transitions/publication.ts';
import { append } from '../log/append.ts';
import { readRun } from '../log/read-state.ts';
import type { PublicationJob } from '../queues/queues.ts';
import { readError } from './infrastructure-error.ts';
import { done, type JobContext, type JobEnd } from './job.ts';
import { releaseUnlessPending } from './release-run.ts';

/**
 * Does what the log says was asked for: publishes a run's change set, or discards its workspace. Both may be done again after a crash.
 * Looks until nothing is asked for any more: a request that comes while this job still exists wakes nobody.
 */
export async function handlePublication(deps: WorkerDeps, job: PublicationJob, context: JobContext): Promise<JobEnd> {
  for (;;) {
    const run = await readRun(deps.redis, job.run_id);
    if (!run) return done;
    if (run.publication === 'discarding') await discard(deps, run);
    else if (run.publication === 'requested') await publish(deps, run, context);
    else if (await releaseUnlessPending(deps, run.id)) return done;
  }
}

async function discard(deps: WorkerDeps, run: RunState): Promise<void> {
  await deps.workspaces.discard(run.id);
  await append(deps, run.id, recordDiscarded());
}

async function publish(deps: WorkerDeps, run: RunState, { lastTry }: JobContext): Promise<void> {
  try {
    const message = String(run.publication_detail?.message ?? '');
    const result = await deps.workspaces.publish({ runId: run.id, snapshot: run.snapshot ?? '', message });
    const outcome =
      result.status === 'published' ? recordPublished(run, result.published) : recordConflict(run, result.conflicts);
    await append(deps, run.id, outcome);
  } catch (error) {
    const { problem, retryable } = readError(error);
    if (retryable && !lastTry) throw error;
    deps.logger.error({ run_id: run.id, err: error }, 'a publish failed');
    await append(deps, run.id, recordConflict(run, [{ path: '', reason: problem.code, detail: problem.message }]));
  }
}
