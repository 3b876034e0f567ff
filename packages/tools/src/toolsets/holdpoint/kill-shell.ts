import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { describeTask, isOver, noSuchTask } from '../../operations/describe-task.ts';
import { renderTask } from '../../result-text/task-state.ts';
import { builtInTool } from '../built-in-tool.ts';

export const killShell = builtInTool({
  name: 'kill_shell',
  description: `Ends a background task: a command with everything it started, or a sub-agent. The result is its status: killed, or how it had ended before. Read its output with task_output.`,
  // The tool ends only tasks of this run. A repeated call after a crash does nothing more.
  effect: 'read',
  sequential: true,
  risk: 'low',
  onTask: 'ends',
  input: z.strictObject({ task_id: z.string().min(1).describe('The task_id that bash or task returned') }),
  render: renderTask,
  async execute(context, { task_id }) {
    const task = await context.tasks.kill(task_id);
    if (!task) return noSuchTask(context, task_id);
    if (isOver(task)) return { status: 'succeeded', value: describeTask(task) };
    return failure(
      'ESTILLRUNNING',
      `${task_id} did not end within ten seconds of the request.`,
      'Check it with task_output; it ends as soon as its worker can be reached.',
      describeTask(task),
    );
  },
});
