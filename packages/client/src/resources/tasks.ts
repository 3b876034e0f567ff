import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const taskRequests = ({ ask }: Transport) => ({
  /** Background commands and sub-agents, oldest first. */
  listTasks: async (runId: string, options: ListOptions = {}): Promise<wire.Task[]> => {
    const { signal } = options;
    return entriesOf((await ask({ path: at('runs', runId, '/tasks'), signal }, wire.taskListSchema)).body, options);
  },

  getTask: async (id: string, { signal }: Options = {}): Promise<wire.Task> =>
    (await ask({ path: at('tasks', id), signal }, wire.taskSchema)).body,

  readTaskOutput: async (
    id: string,
    query: wire.TaskOutputQuery = {},
    { signal }: Options = {},
  ): Promise<wire.TaskOutput> =>
    (await ask({ path: at('tasks', id, '/output'), query: { ...query }, signal }, wire.taskOutputSchema)).body,

  /** Kills the process tree of a background command, or cancels a sub-agent. The call leaves a finished task unchanged. */
  killTask: async (id: string, { signal }: Options = {}): Promise<wire.Task> =>
    (await ask({ method: 'POST', path: at('tasks', id, '/kill'), signal }, wire.taskSchema)).body,
});
