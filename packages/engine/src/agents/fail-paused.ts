import { type AgentSpec, isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { cancelRun, pausedByHand, type RunState } from '../domain/index.ts';
import { append, controlChannel, readTask } from '../log/index.ts';
import { agentSpecOf } from './agent-spec.ts';

/** Whether a pause ends this sub-agent. A person who pauses it by hand resumes it, too. */
export const isPauseFinal = ({ reason }: RunState, { on_pause }: AgentSpec): boolean =>
  on_pause === 'fail' && reason !== undefined && reason.code !== pausedByHand;

/**
 * Ends a paused sub-agent that no person resumes: its run is canceled and keeps the reason of the pause, with which its task fails.
 * @returns whether the run changed
 */
export async function failPaused(deps: WorkerDeps, child: RunState): Promise<boolean> {
  const { parent, reason } = child;
  if (parent === undefined || reason === undefined) return false;
  const task = await readTask(deps.redis, parent.run_id, parent.task_id);
  if (task === undefined || isTaskOver(task.status)) return false;
  if (!isPauseFinal(child, await agentSpecOf(deps, task))) return false;
  const appended = await append(deps, child.id, cancelRun(child, parent.run_id, reason.message));
  if (appended.ok) await deps.redis.publish(controlChannel, JSON.stringify({ kind: 'cancel', run_id: child.id }));
  return true;
}
