import type { ToolContext } from '@holdpoint/tools';
import { expect, test } from 'vitest';
import { McpError } from './errors.ts';
import { askAgain } from './follow-task.ts';

const context = { now: () => 1000 } as ToolContext;
const kept = (end: number) => JSON.stringify({ taskId: 't', began: Date.now(), end });
const after = (error: unknown, { end = Date.now() + 60_000, over }: { end?: number; over?: true } = {}) =>
  askAgain(context, { outside: kept(end), ...(over && { over }) }, error);
const failing = (code: McpError['code']) => new McpError(code, 'it failed', 'Try again.');

test('an authorization server or a network that fails in passing is asked again, until the time of the task is over', () => {
  const network = Object.assign(new Error('reset'), { code: 'ENETWORK' });
  for (const error of [failing('EMCPAUTH'), network])
    expect(after(error)).toMatchObject({ status: 'deferred', until: 2000, on: { outside: expect.any(String) } });
  expect(after(failing('EMCPAUTH'), { end: Date.now() - 1 })).toBeUndefined();
  expect(after(failing('EMCPAUTH'), { over: true })).toBeUndefined();
});

test.each(['EMCPLOGIN', 'EMCPCHANGED', 'EMCPSERVER', 'EMCPTOOBIG'] as const)('%s stays, so the call fails', (code) => {
  expect(after(failing(code))).toBeUndefined();
});
