import { expect, test } from 'vitest';
import { planSchema, references } from './plan.ts';

const parse = (...groups: object[]) => planSchema.safeParse({ groups });

test('a reference to a step of an earlier group is accepted at any depth', () => {
  const args = { deep: [{ path: { $from: 'find', pointer: '/matches/0' } }] };
  const parsed = parse({ steps: [{ name: 'find', tool: 'grep' }] }, { steps: [{ tool: 'read_file', args }] });
  expect(parsed.success).toBe(true);
  expect(references(args)).toEqual([{ $from: 'find', pointer: '/matches/0' }]);
});

test('a reference to the same, a later or a missing group is rejected with its path', () => {
  const user = { tool: 'read_file', args: { path: { $from: 'find' } } };
  const find = { name: 'find', tool: 'grep' };
  for (const parsed of [
    parse({ steps: [find, user] }),
    parse({ steps: [user] }, { steps: [find] }),
    parse({ steps: [user] }),
  ]) {
    expect(parsed.success).toBe(false);
    expect(parsed.error?.issues[0]?.message).toContain('find');
    expect(parsed.error?.issues[0]?.path.at(-1)).toBe('args');
  }
});

test('duplicate names, unknown fields and empty groups are rejected', () => {
  const find = { name: 'find', tool: 'grep' };
  expect(parse({ steps: [find] }, { steps: [find] }).error?.issues[0]?.path).toEqual(['groups', 1, 'steps', 0, 'name']);
  expect(parse({ steps: [] }).success).toBe(false);
  expect(parse({ steps: [{ tool: 'grep', arguments: {} }] }).success).toBe(false);
});
