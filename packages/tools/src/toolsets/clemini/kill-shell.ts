import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { isOver, noSuchTask } from '../../operations/describe-task.ts';
import { builtInTool } from '../built-in-tool.ts';

export const killShell = builtInTool({
  name: 'kill_shell',
  description:
    'End a background task with everything it started. status is killed, or already_completed. Returns: {task_id, status, success}',
  // The tool ends only tasks of this run. A repeated call after a crash does nothing more.
  effect: 'read',
  sequential: true,
  risk: 'low',
  onTask: 'ends',
  input: z.strictObject({ task_id: z.string().min(1).max(200).describe('Id that bash or task returned') }),
  output: z.strictObject({
    task_id: z.string(),
    status: z.enum(['killed', 'already_completed']),
    success: z.literal(true),
  }),
  async execute(context, { task_id }) {
    const before = await context.tasks.get(task_id);
    if (before === undefined) return noSuchTask(context, task_id);
    const completed = { task_id, status: 'already_completed', success: true };
    if (isOver(before)) return { status: 'succeeded', value: completed };
    const after = await context.tasks.kill(task_id);
    if (after === undefined) return noSuchTask(context, task_id);
    // The command may have ended before the kill.
    if (after.status === 'completed') return { status: 'succeeded', value: completed };
    if (isOver(after)) return { status: 'succeeded', value: { ...completed, status: 'killed' } };
    const message = `${task_id} did not end within ten seconds of the request.`;
    return failure('ESTILLRUNNING', message, 'Look with task_output whether it has ended.');
  },
});
