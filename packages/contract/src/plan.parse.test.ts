import { expect, test } from 'vitest';
import { planSchema, references } from './plan.ts';

const parse = (...groups: object[]) => planSchema.safeParse({ groups });

test('a reference to a step of an earlier group is accepted, wherever it stands', () => {
  const args = { deep: [{ path: { $from: 'find', pointer: '/matches/0' } }] };
  const parsed = parse({ steps: [{ name: 'find', tool: 'grep' }] }, { steps: [{ tool: 'read_file', args }] });
  expect(parsed.success).toBe(true);
  expect(references(args)).toEqual([{ $from: 'find', pointer: '/matches/0' }]);
});

test('a reference to the same group, to a later one or to nobody is refused with its place', () => {
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

test('names are unique; unknown fields and empty groups are refused', () => {
  const find = { name: 'find', tool: 'grep' };
  expect(parse({ steps: [find] }, { steps: [find] }).error?.issues[0]?.path).toEqual(['groups', 1, 'steps', 0, 'name']);
  expect(parse({ steps: [] }).success).toBe(false);
  expect(parse({ steps: [{ tool: 'grep', arguments: {} }] }).success).toBe(false);
});
