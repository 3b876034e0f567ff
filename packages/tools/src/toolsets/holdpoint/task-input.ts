import { setTimeout as delay } from 'node:timers/promises';
import type { OutputPage, TaskView } from '@holdpoint/contract';
import { z } from 'zod';
import { describeTask, isOver, noSuchTask, outputPage } from '../../operations/describe-task.ts';
import { renderTask } from '../../result-text/task-state.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';

const mostText = 32_768;
const mostBytes = 32_768;
/** A program that has answered and prints nothing more for this long waits for the next input. */
const quietMs = 400;
const lookEveryMs = 50;

const input = z.strictObject({
  task_id: z.string().min(1).describe('The task_id that bash returned'),
  text: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= mostText, `longer than ${mostText} bytes; write a file instead`)
    .default('')
    .describe('Text to type. Control characters are keys, for example \\u0003 for Ctrl-C in a terminal'),
  enter: z.boolean().default(true).describe('Press Enter after the text'),
  end: z.boolean().default(false).describe('Close the input after the text'),
  wait_s: z.number().min(0).max(10).default(3).describe('Most seconds to wait for the answer'),
});

export const taskInput = builtInTool({
  name: 'task_input',
  sequential: true,
  description: `Types into the input of a running background command that bash started with input: "pipe" or "terminal", such as a REPL, a debugger or a program with questions. The result is what the command printed since, up to the moment when it has been quiet. Read later output with task_output and the cursors of the result; after a call that a person approved, all of it.`,
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  input,
  // The text may be a line for a shell, so rules about commands judge the text as one.
  touches: ({ text }) => ({ command: text, cwd: '.', background: true }),
  render: renderTask,
  async execute(context, { task_id, wait_s, ...typed }) {
    const sent = await context.tasks.send(task_id, typed);
    if (sent === undefined) return { ...(await noSuchTask(context, task_id)), touched: [] };
    if (sent.status === 'refused') return { status: 'failed', error: sent.problem, touched: [] };
    // Background commands stand still until an approved call has ended: they cannot answer yet.
    const waitMs = context.approved ? 0 : wait_s * 1000;
    const { task, stdout, stderr } = await answer(context, task_id, { ...sent, waitMs });
    return {
      status: 'succeeded',
      value: { ...describeTask(task), stdout: outputPage(stdout), stderr: outputPage(stderr) },
    };
  },
});

interface Printed {
  task: TaskView;
  stdout: OutputPage;
  stderr: OutputPage;
}

/** The output since the input, when the command is quiet again, over, or time is up. */
async function answer(
  context: ToolContext,
  taskId: string,
  { waitMs, ...from }: { stdout: number; stderr: number; waitMs: number },
): Promise<Printed> {
  const deadline = performance.now() + waitMs;
  let [known, changedAt] = [0, performance.now()];
  for (;;) {
    const printed = await look(context, taskId, from);
    const bytes = printed.stdout.total + printed.stderr.total - from.stdout - from.stderr;
    const now = performance.now();
    if (bytes !== known) [known, changedAt] = [bytes, now];
    const isQuiet = bytes > 0 && now - changedAt >= quietMs;
    // The capture of a command's changes waits for this call.
    const hasEnded = isOver(printed.task) || printed.task.status === 'capturing';
    if (isQuiet || hasEnded || now >= deadline) return printed;
    await delay(lookEveryMs, undefined, { signal: context.signal });
  }
}

async function look({ tasks }: ToolContext, id: string, from: { stdout: number; stderr: number }): Promise<Printed> {
  const task = await tasks.get(id);
  if (task === undefined) throw new TypeError(`the task ${id} is gone`);
  const [stdout, stderr] = await Promise.all([
    tasks.output(id, { stream: 'stdout', from: from.stdout, maxBytes: mostBytes }),
    tasks.output(id, { stream: 'stderr', from: from.stderr, maxBytes: mostBytes }),
  ]);
  return { task, stdout, stderr };
}
