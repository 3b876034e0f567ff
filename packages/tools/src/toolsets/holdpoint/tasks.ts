import type { OutputPage, TaskView } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { describeTask, isOver, noSuchTask } from '../../operations/describe-task.ts';
import { failure, type ToolContext } from '../../tool.ts';

const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const taskOutput = defineTool({
  name: 'task_output',
  description: `Returns the status and output of a background task. Returns {task_id, kind, title, status, exit_code, stdout, stderr}; status is queued, running, completed (exit code 0), failed, killed, timed_out or lost (it died with its worker, and its progress is unknown). stdout and stderr are {text, next_cursor, total_bytes, omitted_bytes}: pass next_cursor to continue there. The first and last MiB of each are kept. A sub-agent has no output except message, its final message.
With wait_s the call returns when the task is over, or after that many seconds.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    task_id: z.string().min(1).describe('The task_id that bash or task returned'),
    wait_s: z.int().min(0).max(86_400).default(0).describe('Seconds to wait for its end'),
    stdout_cursor: cursor.describe('First byte of stdout to return'),
    stderr_cursor: cursor.describe('First byte of stderr to return'),
    max_bytes: z.int().min(1).max(65_536).default(32_768).describe('The most bytes of each stream'),
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

export const killShell = defineTool({
  name: 'kill_shell',
  description: `Ends a background task: a command with everything it started, or a sub-agent. Returns {task_id, status, exit_code}; status is killed, or the earlier status of a task that was already over. A killed command has no exit code. Read its output with task_output.`,
  // It ends only tasks of this run. A repeated call after a crash does nothing more.
  effect: 'read',
  sequential: true,
  risk: 'low',
  input: z.strictObject({ task_id: z.string().min(1).describe('The task_id that bash or task returned') }),
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

export const taskMerge = defineTool({
  name: 'task_merge',
  description: `Brings the changes of a sub-agent into this workspace, by a three-way merge with the changes made here since: all of them or none. Returns {task_id, paths}, and in left_out the sockets, pipes and devices of the copy, which cannot be merged. ECONFLICT names the files that both sides changed in the same place; resolve them here, or give the work to a new sub-agent on the current workspace.`,
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({ task_id: z.string().min(1).describe('The id of a completed task') }),
  async preview({ tasks }, { task_id }) {
    const found = await tasks.previewMerge(task_id);
    if (found.status === 'refused') return { kind: 'problem', message: found.problem.message };
    const { status, ...shown } = found;
    return { kind: 'merge', task_id, ...shown };
  },
  async execute(context, { task_id }) {
    const merged = await context.tasks.merge(task_id);
    switch (merged.status) {
      case 'merged':
        return {
          status: 'succeeded',
          value: { task_id, paths: merged.paths, ...(merged.left_out?.length && { left_out: merged.left_out }) },
          touched: merged.paths,
        };
      case 'conflict': {
        const files = merged.conflicts.map(({ path }) => path).join(', ');
        return {
          ...failure(
            'ECONFLICT',
            `Nothing was merged: both sides changed ${files}.`,
            'Read the sub-agent’s message and make its changes to these files yourself.',
            { task_id, conflicts: merged.conflicts },
          ),
          touched: [],
        };
      }
      case 'refused':
        return { status: 'failed', error: merged.problem, touched: [] };
      default:
        return merged satisfies never;
    }
  },
});
