import { describe, expect, it } from 'vitest';
import { bareContext } from '../../testing/bare-context.ts';
import { todoWrite } from './todo-write.ts';

const parse = (todos: unknown) => todoWrite.input.safeParse({ todos });

describe('todo_write', () => {
  it('returns the list with its counts', async () => {
    const { todos } = todoWrite.input.parse({
      todos: [
        { content: ' read ', status: 'completed' },
        { content: 'write', status: 'in_progress' },
        { content: 'test', status: 'pending' },
        { content: 'ship', status: 'pending' },
      ],
    });
    expect(todos[0]).toEqual({ content: 'read', status: 'completed' });
    expect(await todoWrite.execute(bareContext(), { todos })).toEqual({
      status: 'succeeded',
      value: { todos, counts: { pending: 2, in_progress: 1, completed: 1, total: 4 } },
    });
  });

  it('accepts an empty list', () => expect(parse([]).success).toBe(true));

  it.each([
    [
      'two items in progress',
      [
        { content: 'a', status: 'in_progress' },
        { content: 'b', status: 'in_progress' },
      ],
    ],
    ['an unknown status', [{ content: 'a', status: 'done' }]],
    ['an empty item', [{ content: '  ', status: 'pending' }]],
    ['an unknown field', [{ content: 'a', status: 'pending', id: 1 }]],
    ['too many items', Array.from({ length: 101 }, () => ({ content: 'a', status: 'pending' }))],
  ])('refuses %s', (_name, todos) => expect(parse(todos).success).toBe(false));
});
