import { taskIdSchema } from '@holdpoint/contract';
import { EngineError, type TaskState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** @throws EngineError `task_not_found` */
export async function findTask(deps: Pick<ApiDeps, 'engine'>, id: string): Promise<{ runId: string; task: TaskState }> {
  const runId = taskIdSchema.safeParse(id).success ? await deps.engine.tasks.runOf(id) : null;
  const task = runId === null ? undefined : await deps.engine.tasks.find(runId, id);
  if (runId === null || task === undefined) throw new EngineError('task_not_found', `there is no task ${id}`);
  return { runId, task };
}
