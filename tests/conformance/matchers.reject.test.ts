import { expect, test } from 'vitest';
import { type Found, mismatch, missing, Thrown } from './runner/match.ts';
import { type Matcher, matcherSchema } from './runner/matcher.ts';
import { locate } from './runner/pointer.ts';

/** Per matcher: values that pass, and values that do not. */
const examples: [matcher: Matcher, passing: Found[], failing: Found[]][] = [
  [{ equals: 1 }, [1], [2, '1', null, missing, new Thrown('x')]],
  [{ equals: null }, [null], [0, '', false, missing]],
  [
    { equals: { a: [1, { b: null }] } },
    [{ a: [1, { b: null }] }],
    [{ a: [1, {}] }, { a: [1, { b: null }], c: 1 }, {}, []],
  ],
  [{ equals: [1, 2] }, [[1, 2]], [[2, 1], [1], [1, 2, 3], { 0: 1, 1: 2 }]],
  [{ equals: { a: { $any: true } } }, [{ a: 1 }, { a: null }], [{}, { a: 1, b: 1 }]],
  [{ regex: 'b+' }, ['abbc'], ['ac', 5, null, missing, ['b']]],
  [{ regex: '^b' }, ['b'], ['a\nb']],
  [{ regex: '(?i)B' }, ['abc'], ['ac']],
  [{ regex: '(?s)a.b' }, ['a\nb'], ['ab']],
  [{ contains: ['a', 'b'] }, ['b a'], ['a', '', ['a', 'b'], missing]],
  [{ gte: 0 }, [0, 1], [-1, '1', null, missing]],
  [{ lte: 5 }, [5], [6, '1', missing]],
  [{ gte: 1, lte: 2 }, [1], [0, 3]],
  [{ absent: true }, [missing], [null, 0, '', false, new Thrown('x')]],
  [{ absent_or: null }, [missing, null], [0, '', 'x']],
  [{ absent_or: [] }, [missing, []], [[1], null]],
  [{ length: 2 }, [[1, 2], 'ab', '\u{1F600}b'], [[1], 'a', { length: 2 }, missing]],
  [{ min_length: 1 }, [[1], 'a'], [[], '', { length: 3 }, missing]],
  [{ set_equals: [1, 2, 2] }, [[2, 1, 2]], [[1, 2], [1, 1, 2], [1, 2, 2, 3], '122', missing]],
  [{ superset_of: ['a', 'a'] }, [['b', 'a', 'a']], [['a'], [], 'aa', missing]],
  [{ superset_names: ['x'] }, [[{ name: 'y' }, { name: 'x' }]], [[{ name: 'y' }], ['x'], [], missing]],
  [
    { set_by: 'name', equals: [{ name: 'a', size: 1 }, { name: 'b' }] },
    [
      [
        { name: 'b', size: 7 },
        { name: 'a', size: 1, more: 1 },
      ],
    ],
    [
      [{ name: 'a', size: 2 }, { name: 'b' }],
      [{ name: 'a', size: 1 }],
      [{ name: 'a', size: 1 }, { name: 'b' }, { name: 'c' }],
      [
        { name: 'a', size: 1 },
        { name: 'a', size: 1 },
      ],
      missing,
    ],
  ],
  [{ set_by: 'name', equals: [] }, [[]], [[{ name: 'a' }], missing]],
  [
    { names: ['a', 'b'], key: 'k' },
    [[{ k: 'b' }, { k: 'a', x: 1 }]],
    [[{ k: 'a' }], [{ k: 'a' }, {}], ['a', 'b'], missing],
  ],
  [{ keys: ['a'] }, [{ a: undefined as never, b: 1 }, { a: null }], [{ b: 1 }, ['a'], 'a', missing]],
  [{ throws: true }, [new Thrown('x')], [missing, null, 'x']],
];

test.each(examples)('%j passes and fails', (matcher, passing, failing) => {
  const parsed = matcherSchema.parse(matcher);
  for (const value of passing) expect(mismatch(value, parsed)).toBeUndefined();
  for (const value of failing) expect(mismatch(value, parsed), String(JSON.stringify(value))).toBeDefined();
});

test('every matcher has an example', () => {
  const shown = new Set(examples.flatMap(([matcher]) => Object.keys(matcher)));
  expect([...shown].sort()).toEqual(Object.keys(matcherSchema.shape).sort());
});

test('further keys are allowed on demand, at every depth', () => {
  const equals = { equals: { a: { b: 1 } } };
  expect(mismatch({ a: { b: 1, c: 2 }, d: 3 }, equals, { extraKeys: true })).toBeUndefined();
  expect(mismatch({ a: { c: 2 } }, equals, { extraKeys: true })).toBeDefined();
});

test('a pointer leads to values, and to missing ones', () => {
  const value = { a: [{ 'b/c': 1 }, { 'b/c': 2 }], '~': 3, '': 4, empty: {} };
  const at = (pointer: string) => locate(value, pointer).map(({ found }) => found);
  expect(at('')).toEqual([value]);
  expect(at('/a/1/b~1c')).toEqual([2]);
  expect(at('/~0')).toEqual([3]);
  expect(at('/')).toEqual([4]);
  expect(at('/a/*/b~1c')).toEqual([1, 2]);
  expect(['/a/2', '/a/01', '/a/-1', '/a/length', '/x', '/x/y', '/a/0/b', '/toString'].flatMap(at)).toEqual(
    Array(8).fill(missing),
  );
});

test('every value of nothing is missing, so nothing passes by being empty', () => {
  for (const value of [{ a: {} }, { a: [] }, { a: 'text' }, {}] as Found[]) {
    expect(locate(value, '/a/*')).toEqual([{ pointer: '/a/*', found: missing }]);
  }
});
