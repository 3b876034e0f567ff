import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callDigest, coveringDigests } from './digest.ts';

const advisory = ['description', 'timeout_seconds'];
const names = fc.constantFrom(
  ...['command', 'description', 'timeout_seconds', 'Description', 'description ', 'descriptiоn', '__proto__'],
  ...['constructor', 'toString', 'leaves_out', '0', '', 'é', 'e\u0301', 'a.description'],
);
const leaf = fc.oneof(
  fc.constantFrom(null, true, 0, -0, 1, '', 'é', 'e\u0301', '\u0000', '\ud800', 'description', '[1]'),
  fc.integer(),
  fc.string(),
);
/** Own keys in any order, with keys of prototypes and nested copies of the advisory names among them. */
const tree = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, tie('record'), fc.array(tie('value'), { maxLength: 3 })),
  record: fc
    .uniqueArray(fc.tuple(names, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));
const callOf = (args: unknown) => ({ toolset: 'a', tool: 'b', args, effect: 'read', reaches: ['h:1'] });

/** A second way to the same: only what JSON keeps, without the advisory names of the first level. */
function covered(args: unknown, leavesOut: readonly string[]): unknown {
  const copy = JSON.parse(JSON.stringify(args), (_, value) => value);
  if (typeof copy === 'object' && copy !== null && !Array.isArray(copy)) {
    for (const name of leavesOut) Reflect.deleteProperty(copy, name);
  }
  return copy;
}

test.each([[[]], [['description']], [advisory]])(
  'two calls with one digest differ in nothing but %j, and calls that differ in these alone have one',
  (leavesOut: string[]) => {
    const equals = (one: unknown, other: unknown) =>
      isDeepStrictEqual(covered(one, leavesOut), covered(other, leavesOut));
    const isOne = (one: unknown, other: unknown) =>
      callDigest(callOf(one), leavesOut) === callDigest(callOf(other), leavesOut);
    fc.assert(
      fc.property(tree.value, tree.value, (one, other) => isOne(one, other) === equals(one, other)),
      { numRuns: 2000 },
    );
    // Two calls that are nearly the same: one argument is other, gone or new, at any depth.
    fc.assert(
      fc.property(tree.record, names, tree.value, (record, name, value) => {
        const entries = Object.entries(record).filter(([key]) => key !== name);
        const others = [
          Object.fromEntries([...entries, [name, value]]),
          Object.fromEntries([[name, value] as const, ...entries].toReversed()),
          Object.fromEntries(entries),
          { ...Object.fromEntries(entries), nested: { [name]: value } },
        ];
        const inner = { ...record, inner: [{ a: 1 }] };
        const deep = { ...record, inner: [{ a: 1, [name]: value }] };
        return [...others.map((other) => [record, other]), [inner, deep]].every(
          ([first, second]) => isOne(first, second) === equals(first, second),
        );
      }),
      { numRuns: 2000 },
    );
  },
);

test('a rule that leaves out fewer arguments, or none, is found, and one that leaves out more is not', () => {
  const call = callOf({ command: 'git status', description: 'look', timeout_seconds: 60 });
  const found = coveringDigests(call, advisory);
  for (const leavesOut of [[], ['description'], ['timeout_seconds'], advisory, advisory.toReversed()]) {
    expect(found).toContain(callDigest(call, leavesOut));
  }
  expect(found).toHaveLength(4);
  expect(coveringDigests(call, ['description'])).not.toContain(callDigest(call, advisory));
  expect(found).not.toContain(callDigest(call, ['command']));
});

test('the digest without advisory arguments is the one of older logs', () => {
  const { toolset, tool, effect } = callOf(null);
  expect(callDigest({ toolset, tool, effect, args: { b: 1, a: [2] } })).toBe(
    'sha256:f258ac973f9c7ec4d426a2f25041dedac5eaef47614aba536ed796ab1716ecc3',
  );
});

test('no digest that leaves arguments out is the digest of another call that leaves out none', () => {
  const args = { command: 'x', description: 'y' };
  const without = { command: 'x' };
  expect(callDigest(callOf(args), ['description'])).toBe(callDigest(callOf(without), ['description']));
  expect(callDigest(callOf(args), ['description'])).not.toBe(callDigest(callOf(without)));
  expect(callDigest(callOf(without), ['description'])).not.toBe(callDigest(callOf(without), ['timeout_seconds']));
});
