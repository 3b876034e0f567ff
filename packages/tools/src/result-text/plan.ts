import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { counted } from './shown-text.ts';

const plan = z.object({ title: z.string(), plan: z.string(), todos: z.array(z.object({ content: z.string() })) });

/** The plan as it was approved, with its todos. */
export const renderPlan = renderValue(plan, ({ title, plan: text, todos }) => ({
  head: `a person approved this plan; the run may now change files, and its todo list has ${counted(todos.length, 'item')}:`,
  body: [title, '', text, '', ...todos.map(({ content }) => `- [ ] ${content}`)].join('\n'),
}));
