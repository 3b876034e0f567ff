import {
  type Task,
  type TaskOutput,
  type TaskOutputQuery,
  taskListSchema,
  taskOutputSchema,
  taskSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const taskRequests = ({ ask }: Transport) => ({
  /** Background commands and sub-agents, oldest first. */
  listTasks: async (runId: string, options: ListOptions = {}): Promise<Task[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: at('runs', runId, '/tasks'), signal }, taskListSchema)).body, options);
  },

  getTask: async (id: string, { signal }: Options = {}): Promise<Task> =>
    (await ask({ path: at('tasks', id), signal }, taskSchema)).body,

  readTaskOutput: async (id: string, query: TaskOutputQuery = {}, { signal }: Options = {}): Promise<TaskOutput> =>
    (await ask({ path: at('tasks', id, '/output'), query: { ...query }, signal }, taskOutputSchema)).body,

  /** Kills the process tree of a background command, or cancels a sub-agent. The call leaves a finished task unchanged. */
  killTask: async (id: string, { signal }: Options = {}): Promise<Task> =>
    (await ask({ method: 'POST', path: at('tasks', id, '/kill'), signal }, taskSchema)).body,
});
