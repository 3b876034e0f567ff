import { resolvePointer, toPointer } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { actionDigest } from './digest.ts';

const action = { toolset: 'holdpoint', tool: 'edit', args: { path: 'a', old: 'b' }, snapshot: 'f'.repeat(40) };

test('the same call has the same digest for any order of its keys', () => {
  expect(actionDigest({ ...action, args: { old: 'b', path: 'a' } })).toBe(actionDigest(action));
});

test('another tool, argument, toolset or snapshot has another digest', () => {
  const others = [
    { tool: 'bash' },
    { toolset: 'sage' },
    { args: { path: 'a', old: 'c' } },
    { snapshot: '0'.repeat(40) },
  ];
  const digests = [action, ...others.map((other) => ({ ...action, ...other }))].map(actionDigest);
  expect(new Set(digests).size).toBe(5);
});

test('JSON pointers follow RFC 6901 and own properties only', () => {
  const value = { 'a/b': [{ 'm~n': 1 }], '': 2 };
  expect(resolvePointer(value, '/a~1b/0/m~0n')).toBe(1);
  expect(resolvePointer(value, '/')).toBe(2);
  expect(resolvePointer(value, '')).toBe(value);
  expect(resolvePointer(value, '/constructor')).toBeUndefined();
  expect(resolvePointer(value, 'a')).toBeUndefined();
  expect(toPointer(['a/b', 0, 'm~n'])).toBe('/a~1b/0/m~0n');
});
