import { toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import type { NewEvent } from '../domain/events.ts';
import { runField } from '../domain/fields.ts';
import type { RunState, StepState } from '../domain/state.ts';
import type { Transition } from '../domain/transition.ts';
import type { Problem } from '../domain/vocabulary.ts';
import { type Appended, append } from '../log/append.ts';
import { claimOwner } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readRun } from '../log/read-state.ts';
import type { NewTask } from '../ports.ts';

/** The event with which a task begins: with the outcome of the step that asked for it, so that both are there or neither. */
export async function beginTask(
  deps: WorkerDeps,
  step: StepState,
  taskId: string,
  { kind, title, spec }: NewTask,
): Promise<NewEvent> {
  const child = kind === 'agent' ? { child: deps.newId('run') } : {};
  return {
    type: 'task.created',
    step_id: step.id,
    data: { task_id: taskId, kind, title, spec: await toPayload(deps.blobs, spec), ...child },
  };
}

const mostTries = 50;

/**
 * Appends what begins a task, unless as many are open as the run may have.
 * @returns `full` with the error for the planner
 */
export async function appendWithTask(
  deps: WorkerDeps,
  run: RunState,
  created: NewEvent,
  transition: Transition,
): Promise<Appended | { full: Problem }> {
  const { limits } = await readSpec(deps, run);
  if (created.type === 'task.created') await claimOwner(deps.redis, run.id, [created.data.task_id]);
  let appended: Appended = { ok: false, field: runField.openTasks, actual: null };
  for (let tries = 0; tries < mostTries; tries++) {
    const open = (await readRun(deps.redis, run.id))?.open_tasks ?? 0;
    if (open >= limits.max_tasks) return { full: tooMany(limits.max_tasks) };
    const room = { field: runField.openTasks, is: open === 0 ? ['', '0'] : [String(open)] };
    appended = await append(deps, run.id, { ...transition, if: [...transition.if, room] });
    if (appended.ok || appended.field !== runField.openTasks) return appended;
  }
  return appended;
}

const tooMany = (limit: number): Problem => ({
  code: 'ETOOMANYTASKS',
  message: `Not begun: ${limit} background tasks of this run are open, which is its limit.`,
  next: 'Wait for one of them with task_output, or end one with kill_shell.',
});
