import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { describeTask, isOver, noSuchTask } from '../../operations/describe-task.ts';
import { failure } from '../../operations/failure.ts';

export const killShell = defineTool({
  name: 'kill_shell',
  description: `Ends a background task: a command with everything it has started, or a sub-agent. Returns {task_id, status, exit_code} as it stands then; status is killed, or what it had come to before. A killed command has no exit code. What it printed can still be read with task_output.`,
  // Only what this run began itself, and once killed it stays killed: asking again after a crash does nothing more.
  effect: 'read',
  sequential: true,
  risk: 'low',
  input: z.strictObject({ task_id: z.string().min(1).describe('As bash or task returned it') }),
  async execute(context, { task_id }) {
    const task = await context.tasks.kill(task_id);
    if (!task) return noSuchTask(context, task_id);
    if (isOver(task)) return { status: 'succeeded', value: describeTask(task) };
    return failure(
      'ESTILLRUNNING',
      `${task_id} was told to end, and has not within ten seconds.`,
      'Look again with task_output; it ends as soon as its worker can be reached.',
      describeTask(task),
    );
  },
});
