import { isTerminal } from '@holdpoint/contract';
import { limitReachedAbove, notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError, extendRun, type RunState, resumeRun } from '../domain/index.ts';
import { append, readRun, retryWhileContended } from '../log/index.ts';
import { listAgents } from '../queries/index.ts';
import { wakeRun } from './submit-run.ts';
import { toolsToAccept } from './tools-to-accept.ts';

interface Resume {
  by: string;
  /** Although the versions of tools changed since the run began. */
  acceptNewVersion?: boolean;
}

/**
 * Resumes a run that is paused, or that waits for paused sub-agents: the run and every paused run beneath it, from the top. All of them,
 * and the runs in between, get their limits granted again: the limits of a run are the budget of the runs beneath it.
 * @throws EngineError `run_not_paused`, `limit_reached_above`, `tools_changed`; nothing was changed then
 */
export async function resumeTree(deps: EngineDeps, run: RunState, request: Resume): Promise<void> {
  const beneath = run.open_tasks === 0 ? [] : (await listAgents(deps, run)).filter(({ status }) => !isTerminal(status));
  const all = [run, ...beneath];
  const paused = all.filter(({ status }) => status === 'paused');
  if (paused.length === 0) throw new EngineError('run_not_paused', `the run ${run.id} is ${run.status}`);
  const above = await limitReachedAbove(deps, run);
  if (above !== undefined) throw new EngineError('limit_reached_above', above.message);
  for (const one of paused) await toolsToAccept(deps, one, request.acceptNewVersion ?? false);
  for (const { id } of all) await resumeOne(deps, id, request);
}

async function resumeOne(deps: EngineDeps, runId: string, { by, acceptNewVersion = false }: Resume): Promise<void> {
  await retryWhileContended(runId, async () => {
    const run = await readRun(deps.redis, runId);
    if (!run) return true;
    if (run.status !== 'paused') return isTerminal(run.status) || extend(deps, run, by);
    const tools = await toolsToAccept(deps, run, acceptNewVersion);
    const appended = await append(deps, runId, resumeRun(run, { by, tools }));
    if (!appended.ok) return false;
    await wakeRun(deps, run, run.turn + 1);
    await notifyParent(deps, run);
    return true;
  });
}

/** A limit that is nearly used up would stop the runs beneath again at their next turn. */
async function extend(deps: EngineDeps, run: RunState, by: string): Promise<boolean> {
  return (await append(deps, run.id, extendRun(run, { by, now: deps.now() }))).ok;
}
