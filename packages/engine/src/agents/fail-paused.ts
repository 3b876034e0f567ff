import { type AgentSpec, type GivenLimits, isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { budgetReached, cancelRun, pausedByHand, type RunState } from '../domain/index.ts';
import { append, controlChannel, readTask } from '../log/index.ts';
import { agentSpecOf } from './agent-spec.ts';

/**
 * Whether a pause ends this sub-agent. A pause by hand does not, because the person also resumes. Any other pause does with `on_pause:
 * fail`, and so does a reached limit of the sub-agent's kind. Such a pause needs no person, and the run above reads its reason.
 */
export function isPauseFinal(child: RunState, { on_pause, kind }: AgentSpec, now: number): boolean {
  const { reason } = child;
  if (reason === undefined || reason.code === pausedByHand) return false;
  return on_pause === 'fail' || isLimitOfKind(child, reason.code, kind?.limits, now);
}

/** Whether the kind's limit is reached. A limit of a run above has the same code. */
function isLimitOfKind(child: RunState, code: string, limits: GivenLimits | undefined, now: number): boolean {
  if (limits === undefined || !Object.hasOwn(limits, code)) return false;
  if (code === 'max_turns') return true;
  return budgetReached(child, limits, now)?.code === code;
}

/**
 * Ends a paused sub-agent that no person resumes: its run is canceled and keeps the reason of the pause. Its task fails with this reason.
 * @returns whether the run changed
 */
export async function failPaused(deps: WorkerDeps, child: RunState): Promise<boolean> {
  const { parent, reason } = child;
  if (parent === undefined || reason === undefined) return false;
  const task = await readTask(deps.redis, parent.run_id, parent.task_id);
  if (task === undefined || isTaskOver(task.status)) return false;
  if (!isPauseFinal(child, await agentSpecOf(deps, task), deps.now())) return false;
  const appended = await append(deps, child.id, cancelRun(child, parent.run_id, reason.message));
  if (appended.ok) await deps.redis.publish(controlChannel, JSON.stringify({ kind: 'cancel', run_id: child.id }));
  return true;
}
