import { isSettled, isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, readTask } from '../log/index.ts';

/**
 * A run is `waiting` while the rest of its turn waits only for sub-agents in the states waiting or paused. Background commands and other
 * sub-agents do not change this: only the turn continues the work.
 * @returns whether a change was recorded: look again
 */
export async function settleWaiting(
  deps: WorkerDeps,
  run: domain.RunState,
  steps: readonly domain.StepState[],
): Promise<boolean> {
  if (run.awaits_calls !== undefined || domain.isWaitingForModel(run)) return false;
  const isAtRest = run.status === 'running' ? (run.agents_total?.waiting ?? 0) === 0 : run.parked > 0;
  if (isAtRest) return false;
  const isWaiting = await isHeldUp(deps, run, steps);
  if (isWaiting === (run.status === 'waiting')) return false;
  await append(deps, run.id, isWaiting ? domain.waitForAgents(run) : domain.stopWaiting(run));
  return true;
}

async function isHeldUp(deps: WorkerDeps, run: domain.RunState, steps: readonly domain.StepState[]): Promise<boolean> {
  if ((run.agents_total?.waiting ?? 0) === 0) return false;
  const open = steps.filter((step) => !isSettled(step.status));
  if (open.length === 0 || open.some((step) => step.status !== 'deferred')) return false;
  const tasks = await Promise.all(open.map(({ deferred }) => readTask(deps.redis, run.id, deferred?.task_id ?? '')));
  return tasks.every(
    (task, index) =>
      task !== undefined && !isTaskOver(task.status) && (task.report?.waiting === true || waitsToMerge(task, index)),
  );
}

/** A sub-agent that ended merges after the earlier calls of the turn. */
const waitsToMerge = ({ about, status }: domain.TaskState, openBefore: number): boolean =>
  about.kind === 'agent' && status === 'capturing' && openBefore > 0;
