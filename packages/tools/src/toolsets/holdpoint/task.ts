import type { AgentGoal, AgentKind, KindBounds, TaskView, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { forModels } from '../../input-schema/for-models.ts';
import type { JsonSchema } from '../../json-schema.ts';
import { failure } from '../../operations/cut-short.ts';
import { describeTask, isOver, noSuchTask, tooDeep } from '../../operations/describe-task.ts';
import { renderTask } from '../../result-text/task-state.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';

const input = z
  .strictObject({
    description: z.string().trim().min(1).max(200).describe('A few words about its purpose'),
    prompt: z
      .string()
      .min(1)
      .max(200_000)
      .optional()
      .describe('The whole job: the sub-agent does not know this conversation and cannot ask'),
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
    agent: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'A kind of sub-agent, by its name. It has its own instructions and perhaps fewer tools. Only with a prompt',
      ),
    model: z
      .string()
      .min(1)
      .optional()
      .describe('provider/model, one of the models that this run may use. Default: that of its kind, or of this run'),
    run_in_background: z.boolean().default(false).describe('Return at once, with a task_id for task_output'),
    timeout_s: z.int().min(1).max(604_800).default(86_400).describe('How long to wait for it; it continues afterwards'),
  })
  .refine(({ prompt, plan }) => (prompt === undefined) !== (plan === undefined), {
    error: 'give either a prompt or a plan',
    path: ['prompt'],
  })
  .refine(({ agent, plan }) => agent === undefined || plan === undefined, {
    error: 'a kind of sub-agent takes a prompt, not a plan',
    path: ['agent'],
  });
type Args = z.output<typeof input>;

export const task = builtInTool({
  name: 'task',
  description: `Gives a part of the work to a sub-agent: a separate run on a private copy of the current workspace, with the same tools except questions to a person. The result is its final message, with its task_id before it. Its changes stay in its copy until task_merge brings them over.
Several calls in one turn run at the same time. With run_in_background the result is only the task_id: follow it with task_output, end it with kill_shell.`,
  // The call changes nothing here, and a repeated call after a crash finds the same sub-agent. The sub-agent's own run gates its calls.
  effect: 'read',
  risk: 'medium',
  takesKind: true,
  input,
  modelSchema: withShortPlan,
  render: renderTask,
  async execute(context, args): Promise<ToolOutcome> {
    if (context.deferred !== undefined) return result(context, context.deferred);
    if (context.depth >= context.maxDepth) return { status: 'failed', error: tooDeep(context.maxDepth) };
    const found = args.agent === undefined ? undefined : await context.tasks.agentKind(args.agent);
    if (found?.status === 'refused') return { status: 'failed', error: found.problem };
    const goal = agentGoal(context, args, found?.kind);
    if (goal === undefined) {
      return failure('ENOMODEL', 'This run has no model to read a prompt.', 'Name a model, or give a plan.');
    }
    const begun = {
      kind: 'agent' as const,
      title: args.description,
      spec: { goal, kind: found && boundsOf(found.kind) },
    };
    if (args.run_in_background) {
      return { status: 'succeeded', value: { task_id: context.taskId, status: 'running' }, task: begun };
    }
    return { status: 'deferred', until: context.now() + args.timeout_s * 1000, on: { task: begun } };
  },
});

function agentGoal(
  context: ToolContext,
  { prompt, plan, model }: Args,
  kind: AgentKind | undefined,
): AgentGoal | undefined {
  const asked = model ?? kind?.model ?? context.model;
  if (plan !== undefined) return { planner: 'scripted', plan: { groups: plan } };
  if (prompt === undefined || asked === undefined) return undefined;
  return { planner: 'model', model: asked, prompt, system: kind?.instructions };
}

const boundsOf = ({ description: _, instructions: __, ...bounds }: AgentKind): KindBounds => bounds;

async function result(context: ToolContext, { task_id }: { task_id: string }): Promise<ToolOutcome> {
  const found: TaskView | undefined = await context.tasks.get(task_id);
  if (!found) return noSuchTask(context, task_id);
  const value = describeTask(found);
  if (!isOver(found) || found.status === 'completed') return { status: 'succeeded', value };
  const { code = 'ETASKFAILED', message = `The sub-agent ${found.status}.` } = found.outcome?.reason ?? {};
  return {
    status: found.status === 'killed' ? 'killed' : 'failed',
    error: { code, message, next: 'None of its changes are in your workspace.' },
    value,
  };
}

/** A model reads the form of a plan in words: its whole schema, with that of any JSON for arguments, took 200 tokens more in each request. */
function withShortPlan({ $defs: _, properties, ...schema }: JsonSchema): JsonSchema {
  const plan = {
    description:
      'Instead of a prompt: groups of tool calls, one group after the other, each {"steps": [{"tool", "args"}], "on_error": "stop" or "continue"}',
    type: 'array',
    items: { type: 'object' },
  };
  return forModels({ ...schema, properties: { ...(properties as JsonSchema), plan } });
}
