import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob } from './glob.ts';
import { compileRegex, regexBudget } from './regex.ts';

test.each([
  ['src/**', ['src/a', 'src/a/b', 'src/'], ['src', 'srca', 'a/src/b']],
  ['**/a', ['a', 'b/a', 'b/c/a'], ['ba', 'a/b']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'a/b/c']],
  ['*.ts', ['a.ts', '.ts'], ['a/b.ts', 'a.tsx']],
  ['{a,b/{c,d}}?', ['ax', 'b/cx'], ['a', 'b/x']],
  ['[a-c!]\\*', ['a*', '!*'], ['d*', 'ab']],
  ['[!a]', ['b', ']'], ['a', '/']],
])('the glob %s', (source, yes, no) => {
  const glob = compileGlob(source);
  expect(yes.filter((text) => !glob.test(text))).toEqual([]);
  expect(no.filter((text) => glob.test(text))).toEqual([]);
});

test('an unknown piece is never certain where a text for it does not match', () => {
  const source = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '**', '?', '**/', '{a,b}'), { maxLength: 6 })
    .map((all) => all.join(''));
  const text = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 4 }).map((all) => all.join(''));
  fc.assert(
    fc.property(source, text, text, fc.array(text, { maxLength: 4 }), (one, before, after, between) => {
      const glob = compileGlob(one);
      const truth = glob.testPieces([before, null, after]);
      for (const piece of between) {
        const matches = glob.test(before + piece + after);
        if (truth === 'yes') expect(matches).toBe(true);
        if (truth === 'no') expect(matches).toBe(false);
      }
    }),
    { numRuns: 3000 },
  );
});

test('a regular expression ends after a fixed amount of work', () => {
  const budget = { left: regexBudget };
  const worst = compileRegex('([ab]*a[ab]{250})$');
  const text = 'a'.repeat(40_000);
  const results = Array.from({ length: 10 }, () => worst.test(text, budget));
  expect(results[0]).toBe('yes');
  expect(results.at(-1)).toBe('maybe');
  // Exponential for an engine that goes back.
  expect(compileRegex('(x+x+)+y').test('x'.repeat(50_000), { left: regexBudget })).toBe('no');
});

test('the text before a search means the same as the search', () => {
  for (const [source, text] of [
    ['^ab*c', 'ac'],
    ['^ab|c', 'xc'],
    ['^a(b|c)', 'ac'],
    ['^a[|]b|c', 'xc'],
    ['^a\\|b', 'a|b'],
    ['^a(\\)|x)|c', 'xc'],
    ['^a?', ''],
    ['^ab{0}', 'a'],
  ] as const) {
    expect(compileRegex(source).test(text, { left: regexBudget }), source).toBe('yes');
  }
});
