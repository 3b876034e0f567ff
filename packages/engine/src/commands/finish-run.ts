import type { EngineDeps } from '../deps.ts';
import { EngineError, finishOpen } from '../domain/index.ts';
import { append, retryWhileContended } from '../log/index.ts';
import { assertActive, getOpenRun } from './steer-run.ts';
import { wakeRun } from './submit-run.ts';

/**
 * Ends an open run as succeeded: its caller has no more calls. No-op for a run that was finished before.
 * @throws EngineError `run_not_found`, `run_not_open`, `run_not_active`, `calls_pending`
 */
export async function finishRun(
  deps: EngineDeps,
  runId: string,
  { message }: { message?: string | undefined },
): Promise<void> {
  await retryWhileContended(runId, async () => {
    const run = await getOpenRun(deps, runId);
    if (run.status === 'succeeded' || run.closing?.as === 'succeeded') return true;
    assertActive(run);
    const waiting = run.received - run.taken;
    if (run.status === 'paused') throw new EngineError('calls_pending', `the run ${runId} is paused`);
    if (run.open > 0 || waiting > 0) {
      const behind = waiting > 0 ? `, and ${waiting} turns of calls wait` : '';
      throw new EngineError('calls_pending', `${run.open} calls of the run ${runId} are open${behind}`);
    }
    const appended = await append(
      deps,
      runId,
      finishOpen(run, message ?? `Finished after ${run.turn} turns of calls.`),
    );
    if (appended.ok) await wakeRun(deps, run, run.turn + 1);
    return appended.ok;
  });
}
