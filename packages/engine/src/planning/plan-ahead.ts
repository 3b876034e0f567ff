import type { WorkerDeps } from '../deps.ts';
import type { AttemptResult, RunState, StepState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';
import { plannerInput } from './history.ts';
import { type Planned, planNext } from './plan-next.ts';

/**
 * For scripted and open runs the next group is known once the last open step settles, so both are recorded in one append. Model runs
 * enqueue a turn job.
 * @param options.isStarting the start of the attempt is recorded with its outcome
 * @returns the plan, with the time of the outcome when the plan depends on the time
 */
export async function planAhead(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  result: AttemptResult,
  { signal, isStarting }: { signal: AbortSignal; isStarting: boolean },
): Promise<(Planned & { time: string | undefined }) | undefined> {
  if (run.header.planner === 'model' || run.status !== 'running' || run.open !== 1 || signal.aborted) return undefined;
  // The limits include a model's usage for the call.
  if (result.askedModel) return undefined;
  // A turn job asks for a place.
  if (deps.admission?.mayContinue(run) === false) return undefined;
  try {
    const spec = await readSpec(deps, run);
    const { attempt, status, value, error, instead } = result;
    let time: string | undefined;
    const settledAt = (): string => {
      time ??= new Date(deps.now()).toISOString();
      return time;
    };
    const { id, call, args } = step;
    const just = { id, call, args, status, outcome: { attempt, value, error, instead }, settledAt, isStarting };
    const planned = await planNext(deps, run, spec, plannerInput(deps, run, spec, just), signal);
    return planned.transition === undefined ? undefined : { ...planned, time };
  } catch (error) {
    deps.logger.warn({ run_id: run.id, err: error }, 'the next turn could not be planned ahead; a job of its own will');
    return undefined;
  }
}
