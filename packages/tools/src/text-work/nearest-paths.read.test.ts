import { expect, test } from 'vitest';
import { nearestPaths } from './nearest-paths.ts';

const near = (wanted: string, paths: readonly string[], folders = false) =>
  nearestPaths({ wanted, listing: paths.join('\0'), folders });

test.each([
  ['a misspelt name', 'src/totl.ts', ['src/total.ts', 'src/index.ts'], ['src/total.ts']],
  ['another ending', 'src/total.js', ['lib/other.js', 'src/total.ts'], ['src/total.ts']],
  ['another case', 'Readme.md', ['README.md', 'docs/index.txt'], ['README.md']],
  ['another folder', 'total.ts', ['a/b/total.ts', 'a/tools.ts'], ['a/b/total.ts']],
  ['the same folder first', 'src/util.ts', ['lib/util.ts', 'src/utils.ts'], ['src/utils.ts', 'lib/util.ts']],
  ['a name of one character', 'x/a', ['y/a', 'y/b'], ['y/a']],
  ['nothing alike', 'src/parser.ts', ['src/index.ts', 'src/main.ts'], []],
  ['an empty tree', 'a', [''], []],
])('finds %s', (_name, wanted, paths, nearest) => expect(near(wanted, paths)).toEqual(nearest));

test('finds folders when asked', () => {
  expect(near('src/apis', ['src/api/a.ts'])).toEqual([]);
  expect(near('src/apis', ['src/api/a.ts'], true)).toEqual(['src/api']);
});

test('names three paths at most, in the same order each time', () => {
  const paths = ['d', 'b', 'a', 'c'].map((folder) => `${folder}/total.ts`);
  expect(near('total.ts', paths)).toEqual(['a/total.ts', 'b/total.ts', 'c/total.ts']);
});

test('finds a name among 20,000 long ones', () => {
  const long = Array.from({ length: 20_000 }, (_, index) => `${'b/'.repeat(20)}${'b'.repeat(200)}${index}`);
  expect(near(`${'a'.repeat(4000)}.ts`, [...long, `x/${'a'.repeat(250)}`])).toEqual([`x/${'a'.repeat(250)}`]);
});
