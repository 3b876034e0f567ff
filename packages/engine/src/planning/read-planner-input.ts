import type { WorkerDeps } from '../deps.ts';
import { readRun, readSpec } from '../log/index.ts';
import type { PlannerInput } from '../ports/index.ts';
import { plannerInput } from './history.ts';

/** A planner's view of a run between two turns: a call may need the process of the run's agent. Undefined: there is no such run. */
export async function readPlannerInput(
  deps: Pick<WorkerDeps, 'redis' | 'blobs' | 'catalog' | 'ceilings' | 'now' | 'operatorPolicy'>,
  runId: string,
): Promise<PlannerInput | undefined> {
  const run = await readRun(deps.redis, runId);
  return run && plannerInput(deps, run, await readSpec(deps, run));
}
