import type { Goal, TaskView, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolContext } from '../../tool.ts';
import { describeTask, isOver, noSuchTask, tooDeep } from './describe-task.ts';
import { failure } from './failure.ts';

const input = z
  .strictObject({
    description: z.string().trim().min(1).max(200).describe('A few words on what it is for'),
    prompt: z
      .string()
      .min(1)
      .max(200_000)
      .optional()
      .describe('The whole task: the sub-agent knows nothing of this conversation, and cannot ask'),
    plan: z
      .array(
        z.strictObject({
          on_error: z.enum(['stop', 'continue']).default('stop'),
          steps: z
            .array(
              z.strictObject({
                name: z.string().optional(),
                tool: z.string().min(1),
                args: z.record(z.string(), z.json()).default({}),
              }),
            )
            .min(1)
            .max(64),
        }),
      )
      .min(1)
      .max(500)
      .optional()
      .describe('Instead of a prompt: groups of tool calls, one group after the other'),
    model: z
      .string()
      .min(1)
      .optional()
      .describe('provider/model, one of those that this run may ask. Default: the model of this run'),
    run_in_background: z.boolean().default(false).describe('Return at once, with a task_id for task_output'),
    timeout_s: z.int().min(1).max(604_800).default(86_400).describe('How long to wait for it; it goes on afterwards'),
  })
  .refine(({ prompt, plan }) => (prompt === undefined) !== (plan === undefined), {
    error: 'give either a prompt or a plan',
    path: ['prompt'],
  });
type Args = z.output<typeof input>;

export const task = defineTool({
  name: 'task',
  description: `Has a sub-agent do a part of the work: a run of its own, on a private copy of the workspace as it is now, with the same tools except questions to a person. Returns {task_id, status, message, run_id}; message is its last word. What it changed stays in its copy until task_merge brings it over.
Several calls in one turn run at the same time. With run_in_background the result is only the task_id: follow it with task_output, end it with kill_shell.`,
  // It changes nothing here, and making it again after a crash meets the same sub-agent: what that may do is gated in its own run.
  effect: 'read',
  risk: 'medium',
  input,
  async execute(context, args): Promise<ToolOutcome> {
    if (context.deferred !== undefined) return result(context, context.deferred);
    if (context.depth >= context.maxDepth) return { status: 'failed', error: tooDeep(context.maxDepth) };
    const goal = agentGoal(context, args);
    if (goal === undefined) {
      return failure('ENOMODEL', 'This run has no model that could read a prompt.', 'Name a model, or give a plan.');
    }
    const begun = { kind: 'agent' as const, title: args.description, spec: { goal } };
    if (args.run_in_background) {
      return { status: 'succeeded', value: { task_id: context.taskId, status: 'running' }, task: begun };
    }
    return { status: 'deferred', until: context.now() + args.timeout_s * 1000, on: { task: begun } };
  },
});

function agentGoal(context: ToolContext, { prompt, plan, model = context.model }: Args): Goal | undefined {
  if (plan !== undefined) return { planner: 'scripted', plan: { groups: plan } };
  if (prompt === undefined || model === undefined) return undefined;
  return { planner: 'model', model, prompt };
}

async function result(context: ToolContext, { task_id }: { task_id: string }): Promise<ToolOutcome> {
  const found: TaskView | undefined = await context.tasks.get(task_id);
  if (!found) return noSuchTask(context, task_id);
  const value = describeTask(found);
  if (!isOver(found) || found.status === 'completed') return { status: 'succeeded', value };
  const { code = 'ETASKFAILED', message = `The sub-agent ${found.status}.` } = found.outcome?.reason ?? {};
  return {
    status: found.status === 'killed' ? 'killed' : 'failed',
    error: { code, message, next: 'Nothing of what it changed is in your workspace.' },
    value,
  };
}
