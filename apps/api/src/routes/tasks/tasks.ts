import { isTaskOver } from '@holdpoint/contract';
import {
  idParamsSchema,
  taskListSchema,
  taskOutputQuerySchema,
  taskOutputSchema,
  taskSchema,
} from '@holdpoint/contract/wire';
import { newsChannel, type TaskState } from '@holdpoint/engine';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { clientGone } from '../../live/stream.ts';
import { findRun } from '../runs/find-run.ts';
import { findTask } from './find-task.ts';
import { toTask } from './task-view.ts';

export function tasksRoutes(app: App, deps: ApiDeps): void {
  const show = async (runId: string, task: TaskState) => {
    const { child } = task.about;
    return toTask(runId, task, child === undefined ? undefined : await deps.engine.runs.find(child));
  };

  app.get(
    '/v1/runs/:id/tasks',
    {
      schema: {
        tags: ['tasks'],
        operationId: 'listTasks',
        summary: 'List the background commands and sub-agents of a run in the order they were begun',
        params: idParamsSchema,
        response: { 200: taskListSchema },
      },
    },
    async ({ params }) => {
      const { id } = await findRun(deps, params.id);
      const tasks = await deps.engine.tasks.list(id);
      return { data: await Promise.all(tasks.map((task) => show(id, task))) };
    },
  );

  app.get(
    '/v1/tasks/:id',
    {
      schema: {
        tags: ['tasks'],
        operationId: 'getTask',
        summary: 'Read a task',
        params: idParamsSchema,
        response: { 200: taskSchema },
      },
    },
    async ({ params }) => {
      const { runId, task } = await findTask(deps, params.id);
      return show(runId, task);
    },
  );

  app.get(
    '/v1/tasks/:id/output',
    {
      schema: {
        tags: ['tasks'],
        operationId: 'readTaskOutput',
        summary: 'Read what a background command has printed, from a cursor on',
        params: idParamsSchema,
        querystring: taskOutputQuerySchema,
        response: { 200: taskOutputSchema },
      },
    },
    async ({ params, query: { stream, cursor, max_bytes, wait_s } }, reply) => {
      const signal = AbortSignal.any([clientGone(reply), deps.closing]);
      const until = deps.now() + wait_s * 1000;
      const { runId } = await findTask(deps, params.id);
      const ear = await deps.news.listen(newsChannel(runId));
      try {
        for (;;) {
          // The status first: what was printed before the end is there when the end is told.
          const { task } = await findTask(deps, params.id);
          const page = await deps.outputs.read(task.id, { stream, from: cursor, maxBytes: max_bytes });
          const left = until - deps.now();
          if (page.text !== '' || isTaskOver(task.status) || left <= 0 || signal.aborted) {
            const { text, next, total, omitted } = page;
            return { status: task.status, text, next_cursor: next, total_bytes: total, omitted_bytes: omitted };
          }
          await ear.next({ timeoutMs: Math.min(left, lookEveryMs), signal });
        }
      } finally {
        ear.close();
      }
    },
  );

  app.post(
    '/v1/tasks/:id/kill',
    {
      schema: {
        tags: ['tasks'],
        operationId: 'killTask',
        summary: 'End a background command with all that it started, or cancel a sub-agent',
        description: 'Recorded when this answers; the processes die soon after. Of a task that is over: nothing.',
        params: idParamsSchema,
        response: { 200: taskSchema },
      },
    },
    async ({ params }) => {
      const { runId, task } = await findTask(deps, params.id);
      await deps.engine.tasks.kill(runId, task.id, operator);
      const now = await findTask(deps, params.id);
      return show(runId, now.task);
    },
  );
}

/** Output is no news: it is looked for. */
const lookEveryMs = 200;
