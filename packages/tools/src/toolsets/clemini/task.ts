import type { TaskView, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { titleOf } from '../../operations/command-argument.ts';
import { isOver, tooDeep } from '../../operations/describe-task.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { agentEnd } from './agent-end.ts';

const maxWaitMs = 24 * 60 * 60 * 1000;

const input = z.strictObject({
  prompt: z
    .string()
    .max(200_000)
    .refine((prompt) => prompt.trim() !== '', 'is empty')
    .describe('The whole job: the sub-agent knows nothing else and cannot ask'),
  background: z.boolean().default(false).describe('Return a task_id at once (default: false)'),
});

export const task = builtInTool({
  name: 'task',
  description:
    'Give a job to a sub-agent, which works on a copy of the workspace with the same tools but ask_user. When it succeeds its changes are merged; when they conflict with others, or it cannot continue, it has failed and nothing of it is here. In the background, read it with task_output. Returns: {status, stdout?, stderr?, exit_code?, task_id?, prompt?}',
  // The call changes nothing, and a repeated call after a crash finds the same sub-agent. The sub-agent's own run gates its calls.
  effect: 'read',
  risk: 'medium',
  input,
  output: z.union([
    z.strictObject({
      status: z.enum(['success', 'failed']),
      stdout: z.string(),
      stderr: z.string(),
      exit_code: z.int(),
    }),
    z.strictObject({ task_id: z.string(), status: z.literal('running'), prompt: z.string() }),
  ]),
  async execute(context, { prompt, background }): Promise<ToolOutcome> {
    const { deferred, depth, maxDepth, model, taskId } = context;
    if (deferred !== undefined) return result(context, deferred.task_id);
    if (depth >= maxDepth) return failed(tooDeep(maxDepth).message);
    if (model === undefined) return failed('This run has no model for a sub-agent, and the operator has set none.');
    const goal = { planner: 'model' as const, model, prompt };
    const begun = {
      kind: 'agent' as const,
      title: titleOf(prompt.trim()),
      spec: { goal, merge: 'on_success', on_pause: 'fail' } as const,
    };
    if (!background) return { status: 'deferred', until: context.now() + maxWaitMs, on: { task: begun } };
    return { status: 'succeeded', value: { task_id: taskId, status: 'running', prompt }, task: begun };
  },
});

async function result({ tasks }: ToolContext, taskId: string): Promise<ToolOutcome> {
  const found: TaskView | undefined = await tasks.get(taskId);
  if (found === undefined) return failed('The sub-agent is gone.');
  if (!isOver(found)) return failed(`It still runs after a day, as ${taskId}: read it with task_output.`);
  const { exit_code, stdout, stderr } = agentEnd(found);
  const status = exit_code === 0 ? 'success' : 'failed';
  return { status: 'succeeded', value: { status, stdout, stderr, exit_code } };
}

/** A sub-agent's inability is a result of the contract, not an error. */
const failed = (why: string): ToolOutcome => ({
  status: 'succeeded',
  value: { status: 'failed', stdout: '', stderr: `Error: ${why}`, exit_code: 1 },
});
