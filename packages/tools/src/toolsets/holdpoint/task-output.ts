import type { OutputPage, TaskView } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolContext } from '../../tool.ts';
import { describeTask, isOver, noSuchTask } from './describe-task.ts';

const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const taskOutput = defineTool({
  name: 'task_output',
  description: `Tells how a background task stands and what it has printed. Returns {task_id, kind, title, status, exit_code, stdout, stderr}; status is queued, running, completed (exit code 0), failed, killed, timed_out or lost (it died with its worker: nobody knows how far it came). stdout and stderr are {text, next_cursor, total_bytes, omitted_bytes}: pass next_cursor to go on from there. The first and last MiB of each are kept. Of a sub-agent there is no output but message, its last word.
With wait_s it returns when the task is over, or after so many seconds.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    task_id: z.string().min(1).describe('As bash or task returned it'),
    wait_s: z.int().min(0).max(86_400).default(0).describe('Seconds to wait for its end'),
    stdout_cursor: cursor.describe('First byte of stdout to return'),
    stderr_cursor: cursor.describe('First byte of stderr to return'),
    max_bytes: z.int().min(1).max(65_536).default(32_768).describe('Of each stream'),
  }),
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
  return { stdout: page(stdout), stderr: page(stderr) };
}

const page = ({ text, next, total, omitted }: OutputPage) => ({
  text,
  next_cursor: next,
  total_bytes: total,
  omitted_bytes: omitted,
});
