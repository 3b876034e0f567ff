import { expect, test } from 'vitest';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { boundArgs } from './find-tool.ts';
import { createRegistry } from './registry.ts';

const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

test.each([
  ['values', { todos: Array.from({ length: 30_000 }, () => ({})) }, '/todos', 'values'],
  ['depth', nested(200), '/a'.repeat(100), 'deep'],
  ['characters', { a: 'x'.repeat(9_000_000), b: { c: 'y'.repeat(9_000_000) } }, '', 'characters'],
])('refuses arguments with too many %s, and names the place', (_what, args, place, detail) => {
  const issue = boundArgs(args);
  expect(issue?.detail).toContain(detail);
  expect(issue?.pointer.startsWith(place)).toBe(true);
});

test('accepts arguments within the limits', () => {
  expect(
    boundArgs({ path: 'a', content: 'x'.repeat(10 * 1024 * 1024 + 1), todos: [{ content: 'x' }] }),
  ).toBeUndefined();
});

test('a call beyond the limits is refused before its schema runs', () => {
  const described = createRegistry([holdpoint]).describe({
    toolset: 'holdpoint',
    tool: 'todo_write',
    args: { todos: Array.from({ length: 1_000_000 }, () => 1) },
  });
  expect(described).toMatchObject({ ok: false, error: { code: 'EINVALIDARGS' }, issues: [{ pointer: '/todos' }] });
});
