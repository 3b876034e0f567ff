import type { TaskView } from '@holdpoint/contract';
import { z } from 'zod';
import { isOver, noSuchTask } from '../../operations/describe-task.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { agentEnd } from './agent-end.ts';
import { settingsOf } from './bash.ts';

export const taskOutput = builtInTool({
  name: 'task_output',
  description:
    'Read what a background task has printed. status is running or completed; killed, or lost, when it did not end by itself, and reason says why. Returns: {task_id, status, exit_code?, stdout, stderr, reason?}',
  effect: 'read',
  risk: 'low',
  onTask: 'waits',
  input: z.strictObject({
    task_id: z.string().min(1).max(200).describe('Id that bash or task returned'),
    wait: z.boolean().default(false).describe('Wait for its end (default: false)'),
    timeout: z.number().min(0).max(86_400).default(30).describe('Seconds to wait at most (default: 30)'),
  }),
  output: z.strictObject({
    task_id: z.string(),
    status: z.enum(['running', 'completed', 'killed', 'lost']),
    exit_code: z.int().optional(),
    stdout: z.string(),
    stderr: z.string(),
    reason: z.string().optional(),
  }),
  async execute(context, { task_id, wait, timeout }) {
    const task = await context.tasks.get(task_id);
    if (task === undefined) return { ...(await noSuchTask(context, task_id)), touched: [] };
    const until = context.deferred?.until ?? context.now() + (wait ? timeout * 1000 : 0);
    if (!isOver(task) && until > context.now()) return { status: 'deferred', until, on: { task_id } };
    return { status: 'succeeded', value: { task_id, ...endOf(task), ...(await printed(context, task)) } };
  },
});

/** A task with a failure of its own has completed: its exit code has the failure. */
function endOf(task: TaskView) {
  const { kind, status, outcome } = task;
  const { message: reason } = outcome?.reason ?? {};
  switch (status) {
    case 'queued':
    case 'running':
    case 'capturing':
      return { status: 'running' };
    case 'completed':
    case 'failed': {
      const exit_code = kind === 'agent' ? agentEnd(task).exit_code : (outcome?.exit_code ?? undefined);
      return { status: 'completed', exit_code, ...(exit_code !== 0 && { reason }) };
    }
    case 'timed_out':
    case 'killed':
      return { status: 'killed', exit_code: outcome?.exit_code ?? undefined, reason: reason ?? 'It was ended.' };
    case 'lost':
      return { status: 'lost', reason: reason ?? 'Its worker was lost, and how far it came is not known.' };
    default:
      return status satisfies never;
  }
}

async function printed(context: ToolContext, task: TaskView): Promise<{ stdout: string; stderr: string }> {
  if (task.kind === 'agent') {
    if (!isOver(task)) return { stdout: '', stderr: '' };
    const { stdout, stderr } = agentEnd(task);
    return { stdout, stderr };
  }
  const [stdout, stderr] = await Promise.all([read(context, task.id, 'stdout'), read(context, task.id, 'stderr')]);
  return { stdout, stderr };
}

/** The whole stream, or its first and last half. */
async function read({ tasks, settings }: ToolContext, id: string, stream: 'stdout' | 'stderr'): Promise<string> {
  const { task_output_bytes: most } = settingsOf(settings);
  const whole = await tasks.output(id, { stream, from: 0, maxBytes: most });
  if (whole.total <= most && whole.omitted === 0) return whole.text;
  const half = Math.floor(most / 2);
  const [first, last] = await Promise.all([
    tasks.output(id, { stream, from: 0, maxBytes: half }),
    tasks.output(id, { stream, from: Math.max(0, whole.total - half), maxBytes: half }),
  ]);
  const note = `[truncated: ${whole.total} bytes in all; the first and the last are shown]`;
  return `${first.text}\n${note}\n${last.text}`;
}
