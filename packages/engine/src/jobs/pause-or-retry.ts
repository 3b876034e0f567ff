import type { WorkerDeps } from '../deps.ts';
import { pauseRun, type RunState } from '../domain/index.ts';
import { append } from '../log/index.ts';
import { readError } from './infrastructure-error.ts';
import { abortReason, type JobContext } from './job.ts';

/** After an infrastructure error: throws while the queue may retry the job; otherwise the run pauses, so that it is not lost. */
export async function pauseOrRetry(
  deps: WorkerDeps,
  run: RunState,
  error: unknown,
  context: JobContext,
): Promise<'lost'> {
  const { problem, retryable } = readError(error);
  if (abortReason(context.signal) !== undefined || (retryable && !context.lastTry)) throw error;
  await append(deps, run.id, pauseRun(run, problem));
  return 'lost';
}
