import { expect, test } from 'vitest';
import { describeTouches } from './command-facts.ts';
import { onlyReads } from './only-reads.ts';

const reads = (command: string, more: object = {}) =>
  onlyReads(describeTouches({ paths: [], hosts: [], command, ...more }));

test.each([
  'git status',
  'ls d && cat a',
  'sleep 100; git log',
  'grep x a > /dev/null',
  'cat a | head',
  'eval "git status"',
])('only reads: %s', (line) => {
  expect(reads(line)).toBe(true);
});

test.each([
  'sleep 100; rm x',
  'git status; touch x',
  'git status && make',
  'git status > a',
  'PATH=. git status',
  'PATH=.; git status',
  'eval "rm x"',
  '$A status',
  'git $A',
  'git status $(rm x)',
  'curl https://a.example',
  'git fetch',
  'npm test',
  './git status',
  'node --version',
  'while true; do rm x; done',
  'git status; (',
  '',
])('does more, or may: %s', (line) => {
  expect(reads(line)).toBe(false);
});

test('a call with a path to write, a host or no command does more, or may', () => {
  expect(reads('git status', { paths: [{ path: 'a', access: 'write' }] })).toBe(false);
  expect(reads('git status', { hosts: ['a.example:443'] })).toBe(false);
  expect(onlyReads(describeTouches({ paths: [{ path: 'a', access: 'read' }], hosts: [] }))).toBe(false);
});
