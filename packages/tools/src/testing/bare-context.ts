import type { Network } from '../network.ts';
import { openTextThreads } from '../text-work/open-text-threads.ts';
import type { ToolContext } from '../tool.ts';

const threads = openTextThreads();

export const noTasks: ToolContext['tasks'] = {
  list: async () => [],
  get: async () => undefined,
  output: async () => ({ text: '', from: 0, next: 0, total: 0, omitted: 0 }),
  kill: async () => undefined,
  send: async () => undefined,
  agentKind: async (name) => ({
    status: 'refused',
    problem: { code: 'ENOAGENT', message: `There is no kind ${name}.` },
  }),
  previewMerge: async (id) => ({ status: 'refused', problem: { code: 'ENOTASK', message: `There is no task ${id}.` } }),
  merge: async (id) => ({ status: 'refused', problem: { code: 'ENOTASK', message: `There is no task ${id}.` } }),
};

/** The context of a call that needs no workspace. Any use of files or commands fails the test. */
export function bareContext(signal = new AbortController().signal, network?: Network): ToolContext {
  const refuse = () => Promise.reject<never>(new Error('this call needs no files and no commands'));
  const files = {
    ...{ resolve: refuse, stat: refuse, read: refuse, write: refuse, list: refuse, glob: refuse },
    ...{ makeDirectory: refuse, remove: refuse, move: refuse },
  };
  return {
    ...{
      files,
      run: refuse,
      search: refuse,
      ripgrep: '',
      past: { last: async () => undefined, had: async () => false, search: async () => ({ hits: [] }) },
      settings: {},
      text: threads.of('run_1', signal),
      signal,
      idempotencyKey: 'step_1',
      ...(network && { network }),
    },
    ...{ tasks: noTasks, taskId: 'task_1', depth: 0, maxDepth: 2, now: Date.now, random: Math.random },
  };
}
