import { isTaskOver, type NewEvent, type NewTask, type Problem } from '@holdpoint/contract';
import { agentRefused, agentsUsedUp, reportToAll, reserveAgent } from '../agents/index.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { type Appended, append, claimOwner, readRun, readSpec, readTasks, toPayload } from '../log/index.ts';
import type { TaskTools } from '../ports/index.ts';

/** The event that begins a task. Its append also records the outcome of the requesting step, so the log has both or neither. */
export async function beginTask(
  deps: WorkerDeps,
  step: domain.StepState,
  taskId: string,
  { kind, title, spec }: NewTask,
): Promise<NewEvent> {
  const child =
    kind === 'agent' ? { child: deps.newId('run'), agent: 'goal' in spec ? spec.kind?.name : undefined } : {};
  return {
    type: 'task.created',
    step_id: step.id,
    data: { task_id: taskId, kind, title, spec: await toPayload(deps.blobs, spec), ...child },
  };
}

const mostTries = 50;

/**
 * Appends the beginning of a task, unless the run has its maximum of open tasks, or the run or a run above has no sub-agent left to begin.
 * @returns `full` with the error for the planner
 */
export async function appendWithTask(
  deps: WorkerDeps,
  run: domain.RunState,
  created: NewEvent,
  transition: domain.Transition,
): Promise<Appended | { full: Problem }> {
  const { limits } = await readSpec(deps, run);
  const tools = deps.catalog.taskTools(run.header.toolset);
  const isAgent = created.type === 'task.created' && created.data.kind === 'agent';
  if (created.type === 'task.created') await claimOwner(deps.redis, run.id, [created.data.task_id]);
  let appended: Appended = { ok: false, field: domain.runField.open_tasks.name, actual: null };
  if (isAgent) {
    await reportToAll(deps, run.id);
    const now = (await readRun(deps.redis, run.id)) ?? run;
    if (now.open_tasks >= limits.max_tasks) return { full: tooMany(limits.max_tasks, tools) };
    const refused =
      (await agentRefused(deps, now, created.step_id)) ?? (await reserveAgent(deps, now, created.step_id));
    if (refused !== undefined) return { full: refused };
  }
  for (let tries = 0; tries < mostTries; tries++) {
    const now = (await readRun(deps.redis, run.id)) ?? run;
    if (now.open_tasks >= limits.max_tasks) return { full: tooMany(limits.max_tasks, tools) };
    const refused = isAgent ? await agentsUsedUp(deps, now, run) : undefined;
    if (refused !== undefined) return { full: refused };
    const beside = await runsBeside(deps, now, created);
    if (beside !== undefined) return { full: beside };
    const room = [
      domain.openTasksAre(now.open_tasks),
      ...(isAgent ? [domain.agentsAre(now.agents), domain.totalIs(now)] : []),
    ];
    appended = await append(deps, run.id, { ...transition, if: [...transition.if, ...room] });
    if (appended.ok || !room.some(({ field }) => !appended.ok && field === appended.field)) return appended;
  }
  return appended;
}

const tooMany = (limit: number, { waits, ends }: TaskTools): Problem => ({
  code: 'ETOOMANYTASKS',
  message: `Not begun: ${limit} background tasks of this run are open, which is its limit.`,
  next: `Wait ${waits === undefined ? 'until one of them has ended' : `for one of them with ${waits}`}${ends === undefined ? '' : `, or end one with ${ends}`}.`,
});

/**
 * An approved background command must begin on the shown files, so no other command may be able to write to them at the start. Commands
 * that begin later may run at the same time.
 */
async function runsBeside(deps: WorkerDeps, run: domain.RunState, created: NewEvent): Promise<Problem | undefined> {
  if (created.type !== 'task.created' || created.data.approved_snapshot === undefined) return undefined;
  const open = (await readTasks(deps.redis, run.id)).filter(
    ({ about, status }) => about.kind === 'shell' && !isTaskOver(status),
  );
  if (open.length === 0) return undefined;
  const names = open.map(({ id, about }) => `${id} (${about.title})`).join(', ');
  const { waits, ends } = deps.catalog.taskTools(run.header.toolset);
  const wait =
    waits === undefined
      ? 'until these background commands have ended'
      : `for the other background commands with ${waits}`;
  return {
    code: 'ETASKSOPEN',
    message: `Not begun: an approved background command begins on the files that a person saw, and ${names} may still change them.`,
    next: `Wait ${wait}${ends === undefined ? '' : `, or end them with ${ends}`}; then make the call again.`,
  };
}
