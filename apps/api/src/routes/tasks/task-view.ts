import { isTaskOver } from '@holdpoint/contract';
import type { Task } from '@holdpoint/contract/wire';
import type { RunState, TaskState } from '@holdpoint/engine';

/** The API's view of a task. @param child the run of a sub-agent, if begun */
export function toTask(runId: string, task: TaskState, child: RunState | undefined): Task {
  const { about } = task;
  const outcome = isTaskOver(task.status) ? task.outcome : undefined;
  return {
    id: task.id,
    run_id: runId,
    step_id: about.step_id,
    kind: about.kind,
    title: about.title,
    agent: about.agent ?? null,
    status: task.status,
    exit_code: outcome?.exit_code ?? null,
    reason: outcome?.reason ?? null,
    message: outcome?.message ?? null,
    merged: outcome?.merged ?? null,
    child: child === undefined ? null : { run_id: child.id, status: child.status },
    duration_ms: outcome?.duration_ms ?? null,
    created_at: task.created_at,
    started_at: task.started_at ?? null,
    ended_at: task.ended_at ?? null,
  };
}
