import type { Json, ToolOutcome } from '@holdpoint/contract';
import { WholeOutput } from '@holdpoint/sandbox';
import { openSecrets } from '@holdpoint/secrets';
import {
  createRegistry,
  createToolsets,
  defineTool,
  defineToolset,
  openSearch,
  openTextThreads,
} from '@holdpoint/tools';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { resultBytesFrom } from '../result-bytes.ts';
import { longResult } from './long-result.ts';

const shout = defineTool({
  ...{ name: 'shout', description: 'Shouts.', effect: 'read', risk: 'low', resultBytes: 2048 },
  input: z.strictObject({}),
  execute: async () => ({ status: 'succeeded', value: null }),
});
const registry = createRegistry([
  ...createToolsets({ search: openSearch({ provider: 'duckduckgo' }) }),
  defineToolset({ name: 'own', tools: [shout] }),
]);
const secrets = openSecrets({
  environment: { KEY: 'a-very-long-secret' },
  ...{ variables: ['KEY'], folder: undefined, storeFolder: '/nonexistent', key: undefined },
});
secrets.resolve('KEY', { tenant: 'default' });
const threads = openTextThreads();
afterAll(() => threads.close());
const signal = new AbortController().signal;

const command = (stdout: string, more: object = {}): Json => ({
  ...{ exit_code: 1, signal: null, stdout, stderr: '', stdout_truncated: false, stderr_truncated: false },
  ...more,
});

interface Call {
  value: Json;
  tool?: string;
  toolset?: string;
  printed?: Buffer[];
  env?: Record<string, string>;
  disk?: () => never;
}

/** A settled call, and what was written for it. */
async function settle({ value, tool = 'bash', toolset = 'holdpoint', printed = [], env = {}, disk }: Call) {
  const written: string[] = [];
  const warned: unknown[] = [];
  const whole = new WholeOutput();
  for (const chunk of printed) whole.write('stdout', chunk);
  const outcome = { status: 'succeeded', value } satisfies ToolOutcome;
  const long = await longResult(
    {
      ...{ registry, resultBytes: resultBytesFrom(env), text: threads.of('run_1', signal) },
      redactor: secrets.redactor('default'),
      workspaces: {
        async keepOutput({ label, text }) {
          disk?.();
          written.push(text);
          return { name: `${label}-0.txt` };
        },
      },
      warn: (error) => warned.push(error),
    },
    { runId: 'run_1', toolset, tool, outcome, printed: whole },
  );
  return { long, written, warned };
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n');

test('a result that fits leaves no file; by setting, per tool and by its author', async () => {
  const value = command(lines(1500));
  expect((await settle({ value })).long).toBeUndefined();
  expect((await settle({ value, env: { HOLDPOINT_RESULT_BYTES: '4096' } })).written).toHaveLength(1);
  expect((await settle({ value, env: { HOLDPOINT_RESULT_BYTES: '4096,bash=65536' } })).long).toBeUndefined();
  const own = { value: lines(300), tool: 'shout', toolset: 'own' };
  expect((await settle(own)).long).toMatchObject({ path: '/holdpoint/outputs/shout-0.txt', lines: 300 });
  expect((await settle({ ...own, env: { HOLDPOINT_RESULT_BYTES: 'shout=65536' } })).long).toBeUndefined();
});

test.each(['x', '10', '16384,bash', '1e5', 'bash=999999', '-1'])(
  'the setting %s is refused with what to write',
  (text) => {
    expect(() => resultBytesFrom({ HOLDPOINT_RESULT_BYTES: text })).toThrow(
      /HOLDPOINT_RESULT_BYTES: .* as in 16384,bash=32768/,
    );
  },
);

test('the file has what the command printed, where its result has both ends only', async () => {
  const whole = `${lines(40_000)}\n`;
  const value = command('line 0\n[… 9 bytes omitted …]\nline 39999\n', {
    stdout_truncated: true,
    stdout_bytes: 400_000,
  });
  const cut = { ...(value as object), stdout: `${lines(1700)}\n[…]\n${lines(1700)}` };
  const { long, written } = await settle({ value: cut as Json, printed: [Buffer.from(whole)] });
  expect(written).toEqual([whole.slice(0, -1)]);
  expect(long).toMatchObject({ lines: 40_000, bytes: whole.length - 1, path: '/holdpoint/outputs/bash-0.txt' });
  expect(long?.parts.map(({ line }) => line)[0]).toBe(1);
  expect(long?.parts.at(-1)?.text.endsWith('line 39999')).toBe(true);
});

test('an endless output keeps both ends, and says how much it lost', async () => {
  const chunk = Buffer.from('0123456789abcde\n'.repeat(4096));
  const value = command(lines(4000), { stdout_truncated: true });
  const { long, written } = await settle({ value, printed: Array.from({ length: 160 }, () => chunk) });
  expect(long?.dropped).toBe(160 * chunk.length - 4 * 1024 * 1024);
  expect(Buffer.byteLength(written[0] ?? '')).toBeLessThan(4.1 * 1024 * 1024);
});

test('neither parts nor file have a secret, also one with colours inside', async () => {
  const hidden = `a-very-\u001b[31mlong\u001b[0m-secret a-very-long-secret\n${lines(4000)}`;
  const { long, written } = await settle({ value: command(hidden) });
  expect(written[0]?.startsWith('[secret KEY] [secret KEY]\nline 0')).toBe(true);
  expect(JSON.stringify(long)).not.toContain('long-secret');
});

test('controls, binary bytes and one huge line become text that a file tool reads', async () => {
  const bytes = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7) % 256));
  const { long, written } = await settle({
    value: command('x'.repeat(40_000), { stdout_truncated: true }),
    printed: [bytes],
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are the subject
  expect(written[0]).not.toMatch(/[\0-\x08\x0b-\x1f\x7f]/);
  expect(written[0]?.isWellFormed()).toBe(true);
  expect(long?.folded ?? written[0]?.split('\n').every((line) => line.length <= 2000)).toBe(true);
});

test('a disk without space fails no call', async () => {
  const full = () => {
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  };
  const { long, warned } = await settle({ value: command(lines(4000)), disk: full });
  expect([long?.path, long?.lines, warned.length]).toEqual([undefined, 4000, 1]);
});

test('a toolset with a form of its own keeps it', async () => {
  const { long } = await settle({ value: command(lines(9000)), tool: 'run_command', toolset: 'workbench' });
  expect(long).toBeUndefined();
});
