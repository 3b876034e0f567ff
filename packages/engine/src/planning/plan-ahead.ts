import type { WorkerDeps } from '../deps.ts';
import {
  type AttemptResult,
  openIs,
  type RunState,
  runField,
  type StepState,
  type Transition,
} from '../domain/index.ts';
import type { JobContext } from '../jobs/index.ts';
import { fromPayload, readSpec } from '../log/index.ts';
import type { SettledStep } from '../ports/index.ts';
import { plannerInput } from './history.ts';
import { type Planned, planNext } from './plan-next.ts';

/**
 * What follows the last open step of a scripted or open run is known once it settles, so both are recorded in one append. Model runs enqueue a
 * turn job.
 */
export async function planAhead(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  result: AttemptResult,
  { signal }: JobContext,
): Promise<Planned | undefined> {
  if (run.header.planner === 'model' || run.status !== 'running' || run.open !== 1 || signal.aborted) return undefined;
  try {
    const spec = await readSpec(deps, run);
    const { status, value, error } = result;
    const just: SettledStep = {
      id: step.id,
      name: step.call.name,
      tool: step.call.tool,
      args: await fromPayload(deps.blobs, step.args),
      status,
      value: value && (await fromPayload(deps.blobs, value)),
      error,
    };
    return await planNext(deps, run, spec, plannerInput(deps, run, spec, just), signal);
  } catch (error) {
    deps.logger.warn({ run_id: run.id, err: error }, 'the next turn could not be planned ahead; a job of its own will');
    return undefined;
  }
}

/** The outcome of the last open step and the next turn as one append. */
export const mergeTransitions = (outcome: Transition, next: Transition): Transition => ({
  if: [...outcome.if, ...next.if.filter(({ field }) => field !== runField.open.name), openIs(1)],
  events: [...outcome.events, ...next.events],
});
