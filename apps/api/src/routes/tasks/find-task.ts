import { taskIdSchema } from '@holdpoint/contract';
import type { TaskState } from '@holdpoint/engine/domain/state';
import { EngineError } from '@holdpoint/engine/errors';
import { ownerOf } from '@holdpoint/engine/log/indexes';
import { readTask } from '@holdpoint/engine/log/read-state';
import type { ApiDeps } from '../../deps.ts';

/** @throws EngineError `task_not_found` */
export async function findTask(deps: Pick<ApiDeps, 'redis'>, id: string): Promise<{ runId: string; task: TaskState }> {
  const runId = taskIdSchema.safeParse(id).success ? await ownerOf(deps.redis, id) : null;
  const task = runId === null ? undefined : await readTask(deps.redis, runId, id);
  if (runId === null || task === undefined) throw new EngineError('task_not_found', `there is no task ${id}`);
  return { runId, task };
}
