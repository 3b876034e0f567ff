import { isTerminal } from '@holdpoint/contract';
import { limitReachedAbove, notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, readRun, readSpec, retryWhileContended } from '../log/index.ts';
import { listAgents } from '../queries/index.ts';
import { wakeRun } from './submit-run.ts';

interface Resume {
  by: string;
  /** Resume although the versions of tools changed since the run began. */
  acceptNewVersion?: boolean;
  /** The model with which the run continues. */
  model?: string | undefined;
}

/**
 * Resumes a run that is paused, or that waits for paused sub-agents: the run and every paused run below the run, from the top. All of
 * these runs, and the runs in between, get their limits granted again, because the limits of a run are the budget of the runs below. Each
 * resumed run that waits for a model asks the model now.
 * @throws EngineError `run_not_paused`, `limit_reached_above`, `tools_changed`, `run_without_model`; after an error nothing has changed
 */
export async function resumeTree(deps: EngineDeps, run: domain.RunState, { model, ...request }: Resume): Promise<void> {
  const beneath = run.open_tasks === 0 ? [] : (await listAgents(deps, run)).filter(({ status }) => !isTerminal(status));
  const all = [run, ...beneath];
  const isAtRest = (one: domain.RunState) => one.status === 'paused' || domain.isWaitingForModel(one);
  // The model changes only between the turns of a run that is paused or waits for its model.
  const resting = (model === undefined ? all : [run]).filter(isAtRest);
  if (resting.length === 0) throw new domain.EngineError('run_not_paused', `the run ${run.id} is ${run.status}`);
  if (model !== undefined && run.header.planner !== 'model') {
    throw new domain.EngineError(
      'run_without_model',
      `the run ${run.id} has a ${run.header.planner} planner and no model`,
    );
  }
  const above = await limitReachedAbove(deps, run);
  if (above !== undefined) throw new domain.EngineError('limit_reached_above', above.message);
  for (const one of all) {
    if (one.status === 'paused') await toolsToAccept(deps, one, request.acceptNewVersion ?? false);
  }
  for (const { id } of all) await resumeOne(deps, id, id === run.id ? { ...request, model } : request);
}

async function resumeOne(deps: EngineDeps, runId: string, request: Resume): Promise<void> {
  const { by, acceptNewVersion = false, model } = request;
  await retryWhileContended(runId, async () => {
    const run = await readRun(deps.redis, runId);
    if (!run) return true;
    const isWaiting = domain.isWaitingForModel(run);
    if (run.status !== 'paused' && !isWaiting) return isTerminal(run.status) || extend(deps, run, by);
    const tools = isWaiting ? undefined : await toolsToAccept(deps, run, acceptNewVersion);
    const transition = isWaiting ? domain.askModelNow(run, { by, model }) : domain.resumeRun(run, { by, tools, model });
    if (!(await append(deps, runId, transition)).ok) return false;
    await wakeRun(deps, run, run.turn + 1);
    await notifyParent(deps, run);
    return true;
  });
}

/** A limit that is nearly used up would stop the runs below again at their next turn. */
async function extend(deps: EngineDeps, run: domain.RunState, by: string): Promise<boolean> {
  return (await append(deps, run.id, domain.extendRun(run, { by, now: deps.now() }))).ok;
}

/** The tool versions to record, when the versions changed. @throws EngineError `tools_changed` */
export async function toolsToAccept(
  deps: EngineDeps,
  run: domain.RunState,
  accept: boolean,
): Promise<Record<string, string> | undefined> {
  const versions = deps.catalog.versions(run.header.toolset);
  const problem = domain.toolsChanged(domain.changedTools(run, await readSpec(deps, run), versions));
  if (problem === undefined) return undefined;
  if (!accept) throw new domain.EngineError('tools_changed', problem.message);
  return versions;
}
