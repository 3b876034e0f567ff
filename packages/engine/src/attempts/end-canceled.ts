import type { WorkerDeps } from '../deps.ts';
import { settleCanceled } from '../domain/index.ts';
import { append, readStep, retryWhileContended } from '../log/index.ts';

/**
 * Settles an attempt without an outcome, or an attempt about to wait for a person or a task, when a caller canceled its step: the call is
 * never made again. The attempt's changes are dropped with the tree.
 * @returns whether the step settled as canceled
 */
export async function endCanceled(
  deps: Pick<WorkerDeps, 'redis' | 'now'>,
  runId: string,
  { id, attempt }: { id: string; attempt: number },
): Promise<boolean> {
  let isEnded = false;
  await retryWhileContended(id, async () => {
    const found = await readStep(deps.redis, runId, id);
    const { step, run } = found ?? {};
    if (run === undefined || step?.cancel === undefined || step.status !== 'running' || step.attempt !== attempt) {
      return true;
    }
    // A run that is being canceled settles its steps as canceled.
    if (run.status === 'canceling') return true;
    isEnded = (await append(deps, runId, settleCanceled(run, step))).ok;
    return isEnded;
  });
  return isEnded;
}
