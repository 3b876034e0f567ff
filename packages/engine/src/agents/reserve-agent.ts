import { isTaskOver, type Problem } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { atLeast, type RunState, reportOf, reserveAgentFor } from '../domain/index.ts';
import { ancestorsOf, append, isReserved, readRun, readTask, retryWhileContended } from '../log/index.ts';
import { agentsUsedUp } from './tree-limits.ts';

/**
 * Counts a new sub-agent for every run above the run that begins the sub-agent, from the root down: two runs that begin a sub-agent at the
 * same moment cannot both have the last place. The count belongs to the requesting step, so a retry counts nothing. A count without a
 * sub-agent (the step was canceled first) lasts until the requesting sub-agent is over (`report-end.ts`).
 * @returns the reason why no sub-agent is left
 */
export async function reserveAgent(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'newId' | 'now' | 'ceilings'>,
  run: RunState,
  stepId: string,
): Promise<Problem | undefined> {
  const chain = [run, ...(await Array.fromAsync(ancestorsOf(deps.redis, run)))];
  for (const { id } of chain.filter(({ parent }) => parent !== undefined).reverse()) {
    let refused: Problem | undefined;
    await retryWhileContended(id, async () => {
      refused = undefined;
      const child = await readRun(deps.redis, id);
      if (child?.parent === undefined) return true;
      const { run_id, task_id } = child.parent;
      const [above, task] = await Promise.all([readRun(deps.redis, run_id), readTask(deps.redis, run_id, task_id)]);
      if (!above || !task || isTaskOver(task.status)) return true;
      if (await isReserved(deps.redis, above.id, stepId)) return true;
      refused = await agentsUsedUp(deps, above, run);
      if (refused !== undefined) return true;
      const now = reportOf(child, deps.now());
      const report = { ...now, used: atLeast(now.used, task.report?.used ?? now.used) };
      return (await append(deps, above.id, reserveAgentFor(stepId, above, task, report))).ok;
    });
    if (refused !== undefined) return refused;
  }
  return undefined;
}
