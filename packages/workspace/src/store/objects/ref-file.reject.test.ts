import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { isRefName } from './ref-file.ts';

const parts = [
  'a',
  'b.c',
  '.',
  '..',
  '@',
  '@{',
  '{',
  '-',
  '.lock',
  'x.lock',
  'lock',
  '/',
  '//',
  ' ',
  '~',
  '^',
  ':',
  '?',
  '*',
  '[',
  ']',
].concat(['\\', '\t', '\n', '\x7f', '\x01', 'é', '\u00a0', '😀', 'HEAD', 'refs/heads/', '#', '!', '"', "'", '$(x)']);

test('agrees with git about random names', () => {
  let state = 7;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  const names = Array.from({ length: 400 }, (_, index) => {
    const text = Array.from({ length: 1 + random(4) }, () => parts[random(parts.length)]).join('');
    return index % 3 === 0 ? text : `refs/heads/${text}`;
  });
  const byGit = (name: string): boolean => spawnSync('git', ['check-ref-format', name]).status === 0;
  expect(names.filter((name) => isRefName(name) !== byGit(name))).toEqual([]);
  expect(new Set(names.map(isRefName))).toEqual(new Set([true, false]));
});

test('refuses what no argument of a program can be', () => {
  expect(isRefName('refs/heads/a\0b')).toBe(false);
  expect(isRefName('refs/heads/\ud800')).toBe(false);
});
