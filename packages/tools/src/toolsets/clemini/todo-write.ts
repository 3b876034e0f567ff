import { z } from 'zod';
import { builtInTool } from '../built-in-tool.ts';

export const todoWrite = builtInTool({
  name: 'todo_write',
  description:
    'Replace the whole list of todos, which shows the person what you do. For work of several steps write the list first. Returns: {success, count}',
  effect: 'read',
  risk: 'low',
  keepsList: true,
  input: z.strictObject({
    todos: z
      .array(
        z.strictObject({
          content: z.string().trim().min(1).max(1000).describe('What is to be done: "Run tests"'),
          activeForm: z.string().trim().min(1).max(1000).describe('What is being done: "Running tests"'),
          status: z.enum(['pending', 'in_progress', 'completed']),
        }),
      )
      .max(500)
      .describe('The whole list'),
  }),
  output: z.strictObject({ success: z.literal(true), count: z.int() }),
  async execute(_context, { todos }) {
    return { status: 'succeeded', value: { success: true, count: todos.length } };
  },
});
