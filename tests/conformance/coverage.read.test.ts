import { expect, test } from 'vitest';
import { readCoverage, renderContracts, uncovered } from './coverage.ts';

const input = {
  requirements: { common: { 'C-01': 'all' }, ryan: { 'S1-01': 'one', 'S1-02': 'two' }, sage: { 'S4-01': 'later' } },
  cases: [{ id: 'ryan-1', requirement: ['S1-01'] }],
  tests: [{ file: 'a/b/c.read.test.ts', text: `x\n// ${'covers'} S1-02, S1-A03, C-01\ny` }],
  isBuilt: (toolset: string) => toolset === 'ryan',
};
const covers = (ids: string) => [{ file: 'a.test.ts', text: `// ${'covers'} ${ids}` }];

test('cases and tests cover requirements, and what is not built needs nothing', () => {
  const groups = readCoverage(input);
  expect(uncovered(groups)).toEqual([]);
  const page = renderContracts(groups);
  expect(page).toContain('| S1-01 | one | ryan-1 |  |');
  expect(page).toContain('| S1-02 | two |  | [b/c.read.test.ts](../a/b/c.read.test.ts) |');
  expect(page).toContain('## sage\n\nNot built yet.');
});

test('a requirement that nothing covers is named', () => {
  expect(uncovered(readCoverage({ ...input, tests: [] }))).toEqual([
    expect.stringContaining('C-01 (common: all)'),
    expect.stringContaining('S1-02 (ryan: two)'),
  ]);
});

test('a disputed case covers nothing', () => {
  const cases = [{ id: 'ryan-1', requirement: ['S1-01'], disputed: 'wrong' }];
  expect(uncovered(readCoverage({ ...input, cases }))).toEqual([expect.stringContaining('S1-01')]);
});

test('a requirement that does not exist is refused', () => {
  expect(() => readCoverage({ ...input, tests: covers('S1-99') })).toThrow('a.test.ts covers S1-99');
});
