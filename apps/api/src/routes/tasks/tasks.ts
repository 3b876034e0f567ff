import { isTaskOver, taskIdSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EngineError, type RunState, type TaskState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { showEach } from '../../errors/to-problem.ts';
import { readUntil } from '../../live/stream.ts';
import { findRun } from '../runs/read-runs.ts';

export function tasksRoutes(app: App): void {
  const show = async (deps: ApiDeps, runId: string, task: TaskState) => {
    const { child } = task.about;
    return toTask(runId, task, child === undefined ? undefined : await deps.engine.runs.find(child));
  };

  app.get(
    '/v1/runs/:id/tasks',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['tasks'],
        operationId: 'listTasks',
        summary: 'List the background commands and sub-agents of a run, oldest first',
        params: wire.idParamsSchema,
        response: { 200: wire.taskListSchema },
      },
    },
    async ({ params, deps }) => {
      const { id } = await findRun(deps, params.id);
      const tasks = await deps.engine.tasks.list(id);
      return showEach(deps, { items: tasks }, { idOf: (task) => task.id, show: (task) => show(deps, id, task) });
    },
  );

  app.get(
    '/v1/tasks/:id',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['tasks'],
        operationId: 'getTask',
        summary: 'Read a task',
        params: wire.idParamsSchema,
        response: { 200: wire.taskSchema },
      },
    },
    async ({ params, deps }) => {
      const { runId, task } = await findTask(deps, params.id);
      return show(deps, runId, task);
    },
  );

  app.get(
    '/v1/tasks/:id/output',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['tasks'],
        operationId: 'readTaskOutput',
        summary: 'Read the output of a background command from a cursor',
        params: wire.idParamsSchema,
        querystring: wire.taskOutputQuerySchema,
        response: { 200: wire.taskOutputSchema },
      },
    },
    async ({ params, query: { stream, cursor, max_bytes, wait_s }, deps }, reply) => {
      const { runId } = await findTask(deps, params.id);
      const { task, page } = await readUntil(deps, reply, {
        ...{ runId, waitMs: wait_s * 1000, pollMs },
        async read() {
          // The status is read first: for a finished task the output below is complete.
          const { task } = await findTask(deps, params.id);
          return { task, page: await deps.outputs.read(task.id, { stream, from: cursor, maxBytes: max_bytes }) };
        },
        isOver: ({ task, page }) => page.text !== '' || isTaskOver(task.status),
      });
      const { text, next, total, omitted } = page;
      return { status: task.status, text, next_cursor: next, total_bytes: total, omitted_bytes: omitted };
    },
  );

  app.post(
    '/v1/tasks/:id/kill',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['tasks'],
        operationId: 'killTask',
        summary: 'Kill a background command and its processes, or cancel a sub-agent',
        description:
          'The request is recorded before the answer; the processes die soon after. A task that is over stays as it is.',
        params: wire.idParamsSchema,
        response: { 200: wire.taskSchema },
      },
    },
    async ({ params, deps }) => {
      const { runId, task } = await findTask(deps, params.id);
      await deps.engine.tasks.kill(runId, task.id);
      const now = await findTask(deps, params.id);
      return show(deps, runId, now.task);
    },
  );
}

/** Output causes no notification, so the route polls. */
const pollMs = 200;

/** @throws EngineError `task_not_found` */
async function findTask(deps: Pick<ApiDeps, 'engine'>, id: string): Promise<{ runId: string; task: TaskState }> {
  const runId = taskIdSchema.safeParse(id).success ? await deps.engine.tasks.runOf(id) : null;
  const task = runId === null ? undefined : await deps.engine.tasks.find(runId, id);
  if (runId === null || task === undefined) throw new EngineError('task_not_found', `there is no task ${id}`);
  return { runId, task };
}

/** The API's view of a task. @param child the run of a sub-agent, if begun */
function toTask(runId: string, task: TaskState, child: RunState | undefined): wire.Task {
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
