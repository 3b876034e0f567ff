import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { openShell } from './run.ts';
import { readConfig, type Terminal } from './shell/index.ts';

function shellOn(columns: number | undefined, env: Record<string, string> = {}) {
  const stdout: Terminal['stdout'] = Object.assign(new Writable(), { isTTY: true, columns });
  return openShell(readConfig(env, '/'), { stdout, stderr: stdout, stdin: process.stdin });
}

it('takes 80 columns on a terminal that does not know its size', () => {
  expect(shellOn(0).width).toBe(80);
  expect(shellOn(40).width).toBe(40);
});

it('draws nothing again on a terminal that cannot move its cursor', () => {
  expect(shellOn(80, { TERM: 'dumb' }).redraws).toBe(false);
  expect(shellOn(80, { TERM: 'xterm' }).redraws).toBe(true);
});
