import type { WorkerDeps } from '../deps.ts';
import type { OutsideState, RunState, StepState } from '../domain/index.ts';
import { makeCall } from './run-attempt.ts';

/** A server that does not answer holds up no worker for longer. */
const longestMs = 10_000;

/** Lets go of what works outside for a call that has ended without its result. Best effort: a failure is logged. */
export async function letGo(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  outside: OutsideState | undefined = step.deferred?.outside,
): Promise<void> {
  if (outside === undefined) return;
  const signal = AbortSignal.timeout(longestMs);
  try {
    await makeCall(deps, run, step, { taskId: deps.newId('task'), context: { signal }, over: outside });
  } catch (err) {
    deps.logger.warn(
      { run_id: run.id, step_id: step.id, err },
      'what works outside for an ended call was not let go of',
    );
  }
}
