import { isTaskOver, taskIdSchema } from '@holdpoint/contract';
import type { Task } from '@holdpoint/contract/wire';
import { EngineError, type RunState, type TaskState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

/** @throws EngineError `task_not_found` */
export async function findTask(deps: Pick<ApiDeps, 'engine'>, id: string): Promise<{ runId: string; task: TaskState }> {
  const runId = taskIdSchema.safeParse(id).success ? await deps.engine.tasks.runOf(id) : null;
  const task = runId === null ? undefined : await deps.engine.tasks.find(runId, id);
  if (runId === null || task === undefined) throw new EngineError('task_not_found', `there is no task ${id}`);
  return { runId, task };
}

/** A task as the API shows it. @param child the run of a sub-agent, once there is one */
export function toTask(runId: string, task: TaskState, child: RunState | undefined): Task {
  const { about } = task;
  const outcome = isTaskOver(task.status) ? task.outcome : undefined;
  return {
    id: task.id,
    run_id: runId,
    step_id: about.step_id,
    kind: about.kind,
    title: about.title,
    status: task.status,
    exit_code: outcome?.exit_code ?? null,
    reason: outcome?.reason ?? null,
    message: outcome?.message ?? null,
    child: child === undefined ? null : { run_id: child.id, status: child.status },
    duration_ms: outcome?.duration_ms ?? null,
    created_at: task.created_at,
    started_at: task.started_at ?? null,
    ended_at: task.ended_at ?? null,
  };
}
