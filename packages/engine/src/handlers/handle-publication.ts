import type { WorkerDeps } from '../deps.ts';
import { recordConflict, recordDiscarded, recordPublished } from '../domain/transitions/publication.ts';
import { append } from '../log/append.ts';
import { untrackActive } from '../log/indexes.ts';
import { readRun } from '../log/read-state.ts';
import type { PublicationJob } from '../queues/queues.ts';
import { readError } from './infrastructure-error.ts';
import { done, type JobContext, type JobEnd } from './job.ts';

/** Does what the log says was asked for: publishes a run's change set, or discards its workspace. Both may be done again after a crash. */
export async function handlePublication(
  deps: WorkerDeps,
  job: PublicationJob,
  { lastTry }: JobContext,
): Promise<JobEnd> {
  const run = await readRun(deps.redis, job.run_id);
  if (!run) return done;
  if (run.publication === 'discarding') {
    await deps.workspaces.discard(run.id);
    await append(deps, run.id, recordDiscarded());
  }
  if (run.publication === 'requested') {
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
  await untrackActive(deps.redis, run.id);
  return done;
}
