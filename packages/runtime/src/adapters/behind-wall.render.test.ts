import type { CommandResult } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { withAdvice } from './behind-wall.ts';

const stream = (text: string) => ({ text, bytes: text.length, truncated: false });
const result = (stderr: string, exit_code = 1, stdout = ''): CommandResult => ({
  ...{ end: { status: 'exited', exit_code, signal: null }, use: {}, duration_ms: 1 },
  ...{ stdout: stream(stdout), stderr: stream(stderr), capabilities: {} as CommandResult['capabilities'] },
});
const advised = (stderr: string, exit_code?: number) =>
  withAdvice(result(stderr, exit_code), ['cat', 'git'], false).stderr.text.includes('put WRITES=1 before it');

test.each([
  '/bin/bash: line 1: y: Read-only file system\n',
  'error: could not lock config file .git/config: Read-only file system\n',
  '/bin/bash: line 1: rm: command not found\n',
  '/opt/holdpoint/inside/enter.sh: line 59: exec: rm: not found\n',
  'sh: 1: rm: not found\n',
  '/bin/bash: line 1: ./evil: Permission denied\n',
  'cat: /usr/include/stdio.h: No such file or directory\n',
  "ls: cannot access '/opt/tool/bin': No such file or directory\n".replace(/'/g, ''),
  '/bin/bash: line 1: /usr/bin/x: cannot execute: required file not found\n',
])('%j says how the line is judged as one that writes', (stderr) => {
  expect(advised(stderr)).toBe(true);
});

test('a program that was named and is not installed needs no other judgement', () => {
  expect(advised('/bin/bash: line 1: git: command not found\n')).toBe(false);
});

test('a question for a program that is not there says why', () => {
  expect(withAdvice(result(''), ['which'], false).stderr.text).toMatch(/^holdpoint: /);
});

test('other errors stay as they are', () => {
  expect(advised('cat: missing: No such file or directory\n')).toBe(false);
  expect(advised('', 0)).toBe(false);
});

test('output of a command is no error of it, unless both streams are one and it failed', () => {
  const said = 'x: Read-only file system\n';
  const both = (exit_code: number) => withAdvice(result('', exit_code, said), ['cat'], true).stdout.text;
  expect(withAdvice(result('', 1, said), ['cat'], false).stdout.text).toBe(said);
  expect(both(0)).toBe(said);
  expect(both(1)).toContain('its programs only read (cat)');
});
