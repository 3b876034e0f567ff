import { z } from 'zod';
import { renderTodos } from '../../result-text/todos.ts';
import { builtInTool } from '../built-in-tool.ts';

const todo = z.strictObject({
  content: z.string().trim().min(1).max(500).describe('The work to do'),
  status: z.enum(['pending', 'in_progress', 'completed']),
});

export const todoWrite = builtInTool({
  name: 'todo_write',
  description: `Records the plan of longer work, which the person sees. Pass the whole list every time; it replaces the previous one. Keep exactly one item in_progress while you work, and mark an item completed as soon as it is done.`,
  effect: 'read',
  risk: 'low',
  keepsList: true,
  input: z.strictObject({
    todos: z
      .array(todo)
      .max(100)
      .refine(
        (todos) => todos.filter(({ status }) => status === 'in_progress').length <= 1,
        'at most one item may be in_progress',
      )
      .describe('The whole list, in order'),
  }),
  render: renderTodos,
  async execute(_context, { todos }) {
    const count = (status: (typeof todos)[number]['status']) => todos.filter((item) => item.status === status).length;
    const counts = {
      pending: count('pending'),
      in_progress: count('in_progress'),
      completed: count('completed'),
      total: todos.length,
    };
    return { status: 'succeeded', value: { todos, counts } };
  },
});
