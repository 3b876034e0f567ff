import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readTasks } from '../log/index.ts';

/** The sub-agents below a run, at any depth; each run comes before its own sub-agents. Reads whole hashes. */
export async function listAgents(deps: Pick<EngineDeps, 'redis'>, run: RunState): Promise<RunState[]> {
  const found: RunState[] = [];
  for (let level = [run]; level.length > 0; ) {
    const beneath = await Promise.all(level.map((one) => agentsOf(deps, one)));
    level = beneath.flat();
    found.push(...level);
  }
  return found;
}

async function agentsOf({ redis }: Pick<EngineDeps, 'redis'>, run: RunState): Promise<RunState[]> {
  if (run.agents === 0) return [];
  const tasks = await readTasks(redis, run.id);
  const children = tasks.flatMap(({ about }) => (about.child === undefined ? [] : [about.child]));
  const runs = await Promise.all(children.map((id) => readRun(redis, id)));
  // A sub-agent that has not begun is no run yet.
  return runs.filter((one) => one !== undefined);
}
