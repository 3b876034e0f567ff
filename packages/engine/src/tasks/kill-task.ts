import { isTaskOver } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, requestKill } from '../domain/index.ts';
import { append, controlChannel, readTask, retryWhileContended } from '../log/index.ts';

/**
 * Records that a task has to end. The whole process tree of a background command dies soon after; a sub-agent is canceled. No-op for an
 * ended task.
 * @throws EngineError `task_not_found`
 */
export async function requestTaskKill(
  deps: Pick<EngineDeps, 'redis' | 'queues' | 'logger' | 'newId' | 'now'>,
  runId: string,
  taskId: string,
  by: string,
): Promise<void> {
  await retryWhileContended(taskId, async () => {
    const task = await readTask(deps.redis, runId, taskId);
    if (!task) throw new EngineError('task_not_found', `the run ${runId} has no task ${taskId}`);
    if (isTaskOver(task.status) || task.kill !== undefined) return true;
    return (await append(deps, runId, requestKill(task, by))).ok;
  });
  try {
    await deps.redis.publish(controlChannel, JSON.stringify({ kind: 'kill', run_id: runId, task_id: taskId }));
    await deps.queues.wakeTask(runId, taskId);
  } catch (error) {
    deps.logger.warn({ run_id: runId, task_id: taskId, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}
