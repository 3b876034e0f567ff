import { isTaskOver, mostCalls, type Problem } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { atLeast, budgetReached, type RunState, reportOf, reserveAgentFor, usedSinceResume } from '../domain/index.ts';
import { ancestorsOf, append, isReserved, readRun, readSpec, readTask, retryWhileContended } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'now' | 'ceilings'>;

/** The first reached limit of a run above this run. All sub-agents, including this run, have reported their usage. */
export async function limitReachedAbove(deps: Deps, run: RunState, next = 0): Promise<Problem | undefined> {
  for await (const above of ancestorsOf(deps.redis, run)) {
    const { limits } = await readSpec(deps, above);
    const reason = budgetReached(above, limits, deps.now(), next);
    if (reason === undefined) continue;
    const message = reason.message.replace('The run', `The run ${above.id}, which this one works for,`);
    return { code: reason.code, message, next: `Resume ${above.id} to grant as much again, or cancel it.` };
  }
  return undefined;
}

/** The reason why a step of a run may not begin another sub-agent: the first reached limit in the tree of runs. */
export async function agentRefused(deps: Deps, run: RunState, stepId: string): Promise<Problem | undefined> {
  for (const one of [run, ...(await all(ancestorsOf(deps.redis, run)))]) {
    const isCounted = one.id !== run.id && (await isReserved(deps.redis, one.id, stepId));
    const usedUp = isCounted ? undefined : await agentsUsedUp(deps, one, run);
    if (usedUp !== undefined) return usedUp;
    const { limits } = await readSpec(deps, one);
    const reason = budgetReached(one, limits, deps.now());
    if (reason === undefined) continue;
    const message = `Not begun: ${whose(one, run)} has reached a limit (${reason.code}).`;
    return { code: 'EBUDGET', message, next: 'Bring your own work to an end.' };
  }
  return undefined;
}

/** @param one the run whose limit is checked: `run` or a run above */
export async function agentsUsedUp(deps: Deps, one: RunState, run: RunState): Promise<Problem | undefined> {
  const { limits } = await readSpec(deps, one);
  if (usedSinceResume(one, deps.now()).agents < limits.max_agents) return undefined;
  return {
    code: 'ETOOMANYAGENTS',
    message: `Not begun: ${whose(one, run)} may have ${limits.max_agents} sub-agents in all (max_agents).`,
    next: 'Do the work of the sub-agent yourself.',
  };
}

const whose = (one: RunState, run: RunState): string =>
  one.id === run.id ? 'this run' : `the run ${one.id}, which this one works for,`;

/** Caps the tool calls of one model turn. Calls over the cap get `error`. */
export async function roomForCalls(deps: Deps, run: RunState): Promise<{ calls: number; error: Problem }> {
  let calls = mostCalls;
  let why = `a turn has ${mostCalls} calls at most`;
  for (const one of [run, ...(await all(ancestorsOf(deps.redis, run)))]) {
    const { max_steps } = (await readSpec(deps, one)).limits;
    if (max_steps === undefined) continue;
    const left = Math.max(0, max_steps - usedSinceResume(one, deps.now()).steps);
    if (left >= calls) continue;
    calls = left;
    why = `${left} steps were left of max_steps (${max_steps})`;
  }
  const next = 'Make fewer calls in one answer, the most important first.';
  return { calls, error: { code: 'ETOOMANYCALLS', message: `Not run: ${why}, and this answer had more calls.`, next } };
}

async function all(runs: AsyncIterable<RunState>): Promise<RunState[]> {
  return Array.fromAsync(runs);
}

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
