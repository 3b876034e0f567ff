import type { MarkRun } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, isMarkedAs, markAs } from '../domain/index.ts';
import { append, retryWhileContended } from '../log/index.ts';
import { getRun } from './steer-run.ts';

/**
 * Records what a person thinks of the work of a run that has ended. The same mark by the same caller is recorded once.
 * @throws EngineError `run_not_found`, `run_not_finished`, `contended`
 */
export async function markRun(
  deps: EngineDeps,
  runId: string,
  { by, ...mark }: MarkRun & { by: string },
): Promise<void> {
  await retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    if (isMarkedAs(run, { ...mark, by })) return true;
    const transition = markAs(run, { ...mark, by });
    if (transition === undefined) throw new EngineError('run_not_finished', `the run ${runId} is ${run.status}`);
    return (await append(deps, runId, transition)).ok;
  });
}
