import { z } from 'zod';
import { renderPlan } from '../../result-text/plan.ts';
import { builtInTool } from '../built-in-tool.ts';

const todo = z.strictObject({
  content: z.string().trim().min(1).max(500).describe('The work to do'),
  status: z.literal('pending').default('pending'),
});

/** Submits the plan of a run in plan mode (`modes.plan`). The approval of this call ends plan mode. */
export const submitPlan = builtInTool({
  name: 'submit_plan',
  description: `Submits the plan of a run in plan mode to a person and waits for the decision. Read what you need first. Once the plan is approved, the run continues with its normal permissions and the plan's items as its todo list. When it is rejected, the words of the person say what to change: plan further and submit the new plan. The result is the plan as it was approved: a person may have edited it.`,
  effect: 'read',
  risk: 'low',
  gate: 'plan',
  sequential: true,
  keepsList: true,
  input: z.strictObject({
    title: z.string().trim().min(1).max(200).describe('What the plan is for, in one line'),
    plan: z
      .string()
      .trim()
      .min(1)
      .max(30_000)
      .describe(
        'The whole plan in Markdown: the cause or the need, the changes by file, how they will be checked, what stays',
      ),
    todos: z.array(todo).min(1).max(50).describe('The steps of the plan, in order'),
  }),
  render: renderPlan,
  async execute(_context, { title, plan, todos }) {
    return { status: 'succeeded', value: { approved: true, title, plan, todos } };
  },
  async preview(_context, { title, plan, todos }) {
    return { kind: 'plan', title, text: plan, todos: todos.map(({ content }) => content) };
  },
});
