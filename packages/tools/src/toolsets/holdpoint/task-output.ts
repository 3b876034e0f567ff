import type { TaskView } from '@holdpoint/contract';
import { z } from 'zod';
import { describeTask, isOver, noSuchTask, outputPage } from '../../operations/describe-task.ts';
import { renderTask } from '../../result-text/task-state.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';

const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const taskOutput = builtInTool({
  name: 'task_output',
  description: `Returns the status and output of a background task. The status is queued, running, completed (exit code 0), failed, killed, timed_out or lost (it died with its worker, and its progress is unknown). The first line of the result has the cursors to continue from. The first and last MiB of each are kept. A sub-agent has no output except its final message.
With wait_s the call returns when the task is over, or after that many seconds.`,
  effect: 'read',
  risk: 'low',
  onTask: 'waits',
  input: z.strictObject({
    task_id: z.string().min(1).describe('The task_id that bash or task returned'),
    wait_s: z.int().min(0).max(86_400).default(0).describe('Seconds to wait for its end'),
    stdout_cursor: cursor.describe('First byte of stdout to return'),
    stderr_cursor: cursor.describe('First byte of stderr to return'),
    max_bytes: z.int().min(1).max(65_536).default(32_768).describe('The most bytes of each stream'),
  }),
  render: renderTask,
  async execute(context, args) {
    const task = await context.tasks.get(args.task_id);
    if (!task) return { ...(await noSuchTask(context, args.task_id)), touched: [] };
    const until = context.deferred?.until ?? context.now() + args.wait_s * 1000;
    if (!isOver(task) && until > context.now()) return { status: 'deferred', until, on: { task_id: task.id } };
    const printed = task.kind === 'shell' ? await read(context, task, args) : {};
    return { status: 'succeeded', value: { ...describeTask(task), ...printed } };
  },
});

interface Wanted {
  stdout_cursor: number;
  stderr_cursor: number;
  max_bytes: number;
}

async function read({ tasks }: ToolContext, { id }: TaskView, { stdout_cursor, stderr_cursor, max_bytes }: Wanted) {
  const [stdout, stderr] = await Promise.all([
    tasks.output(id, { stream: 'stdout', from: stdout_cursor, maxBytes: max_bytes }),
    tasks.output(id, { stream: 'stderr', from: stderr_cursor, maxBytes: max_bytes }),
  ]);
  return { stdout: outputPage(stdout), stderr: outputPage(stderr) };
}
