import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { bash as tool } from './bash.ts';
import { sage } from './toolset.ts';

const workspace = useWorkspace(sage);
const bash = (command: string, args?: string[], settings: object = {}, more: Partial<ToolContext> = {}) =>
  workspace().result('Bash', { command, args }, { settings, ...more });
const ended = (stdout: string, exitCode = 0, stderr = '') => ({
  ok: true,
  data: { stdout, stderr, exitCode },
  meta: { startedAt: '2026-01-01T00:00:00.010Z', endedAt: '2026-01-01T00:00:00.017Z', durationMs: 7 },
});

// covers S4-28
test('arguments reach the program as they are, without a shell', async () => {
  const args = ['a b;c $HOME', '', '*', '`id`', '"', "'", '\n', '𝄞', '--', '-n'];
  expect(await bash('printf', ['%s\\0', ...args])).toEqual(ended(`${args.join('\0')}\0`));
  expect(await bash('echo', ['hello', 'a b;c $HOME'])).toEqual(ended('hello a b;c $HOME\n'));
  expect(await bash('echo x', [])).toMatchObject({ ok: false, error: { code: 'ERUNTIME' } });
});

// covers S4-28
test('a line without args is for a shell', async () => {
  expect(await bash('echo "a $((1 + 1))" | cat; echo e >&2')).toEqual(ended('a 2\n', 0, 'e\n'));
  expect(await bash('pwd')).toEqual(ended('/workspace\n'));
  expect(await bash('echo made > r.txt && cat r.txt')).toEqual(ended('made\n'));
  expect(String(await workspace().get('r.txt'))).toBe('made\n');
});

// covers S4-28
test.each([
  ['false', undefined, 1],
  ['sh', ['-c', 'exit 3'], 3],
  ['sh', ['-c', 'exit 127'], 127],
  ['sh', ['-c', 'kill -9 $$'], 137],
  ['exit 5; true', undefined, 5],
  ['sh', ['-c', 'no-such-program'], 127],
  ['sh', ['-c', './missing.sh'], 127],
  ['bash', ['-c', './missing.sh'], 127],
] as const)('%s %j ends with %i, and that is a result', async (command, args, exitCode) => {
  expect(await bash(command, args && [...args])).toMatchObject({ ok: true, data: { exitCode } });
});

// covers S4-63
test.each(['no-such-program', './missing.sh'])('%s is not there', async (command) => {
  expect(await bash(command, [])).toMatchObject({
    ok: false,
    error: { code: 'ERUNTIME' },
    data: { exitCode: 127 },
    meta: { cause: { code: 'ENOCOMMAND' } },
  });
});

// covers S4-28
test('a program of the workspace runs', async () => {
  await workspace().put('run.sh', '#!/bin/sh\necho "ran $1"\n');
  await chmod(join(workspace().path, 'run.sh'), 0o755);
  expect(await bash('./run.sh', ['x y'])).toEqual(ended('ran x y\n'));
});

// covers S4-40
test('a command has the variables of the run and the base environment, and nothing else', async () => {
  process.env.HOST_VARIABLE_OF_TEST = 'visible';
  const { data } = (await bash('printenv', [], { env: { FOO: 'bar $HOME' } })) as { data: { stdout: string } };
  delete process.env.HOST_VARIABLE_OF_TEST;
  const names = data.stdout.split('\n').flatMap((line) => line.split('=')[0] || []);
  expect(data.stdout).toContain('FOO=bar $HOME\n');
  expect(data.stdout).not.toContain('visible');
  expect(names.filter((name) => !/^(FOO|PATH|HOME|LANG|TMPDIR|PWD|SHLVL|GIT_[A-Z_0-9]+)$/.test(name))).toEqual([]);
});

// covers S4-40, C-06
test('what a command leaves in /tmp and in the background is removed', async () => {
  expect(await bash('echo x > /tmp/left; (sleep 600; echo late > late) & echo done')).toMatchObject({ ok: true });
  expect(await bash('ls', ['/tmp/left'])).toMatchObject({ data: { exitCode: 2 } });
});

// covers S4-64, C-06
test.each([[{ timeoutMs: 300 }], [{ timeoutMs: 60_000, toolTimeoutMs: { Bash: 300 } }]])(
  'a command that runs longer than %j is ended',
  async (limits) => {
    const result = await bash('sh', ['-c', 'echo begun; sleep 600 & sleep 600'], { limits });
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'ETIMEOUT' },
      data: { stdout: 'begun\n', exitCode: null },
      meta: { cause: { code: 'ETIMEOUT' } },
    });
  },
);

// covers S4-45, S4-65
test.each([
  ['output', 'yes', { maxOutputBytes: 1000 }],
  ['files', 'head -c 20000 /dev/zero > big', { maxCommandFileBytes: 4096 }],
  ['CPU', 'while :; do :; done', { cpuSeconds: 1 }],
])('%s: a quota ends the command', async (_, command, limits) => {
  const result = (await bash(command, undefined, { limits })) as { error?: { code: string } };
  expect(result.error?.code).toBe('EQUOTA');
});

// covers S4-41
test('there is no network', async () => {
  const asked: unknown[] = [];
  const run: ToolContext['run'] = async (request) => {
    asked.push(request.network);
    throw new Error('seen');
  };
  await expect(workspace().call('Bash', { command: 'true' }, { run })).rejects.toThrow('seen');
  expect(asked).toEqual([false]);
});

// covers S4-51
test('a placeholder becomes the secret, and no shell reads it', async () => {
  const secret = 'a"; echo $(id) `id` \'; *';
  const placeholder = (name: string) => (name === 'KEY' ? secret : undefined);
  const more = { placeholder };
  expect(await bash('echo', ['x$ENV.KEY'], {}, more)).toEqual(ended(`x${secret}\n`));
  expect(await bash('echo "x$ENV.KEY" y | cat', undefined, {}, more)).toEqual(ended(`x${secret} y\n`));
  expect(await bash('echo "$ENV.OTHER"', undefined, {}, more)).toMatchObject({ error: { code: 'EVALIDATION' } });
  expect(await bash('echo', ['$ENV.KEY'])).toEqual(ended('$ENV.KEY\n'));
  expect(await bash('echo "$ENV.KEY"')).toEqual(ended('.KEY\n'));
});

// covers S4-44
test('a dry run runs nothing', async () => {
  expect(await bash('echo x > made', undefined, {}, { dryRun: true })).toEqual(ended('', null as never));
  await expect(workspace().get('made')).rejects.toThrow('ENOENT');
});

// covers S4-61, C-09
test.each([
  [{}],
  [{ command: '' }],
  [{ command: ' \n' }],
  [{ command: 'a\0b' }],
  [{ command: 'echo', args: 'x' }],
  [{ command: 'echo', args: ['a\0'] }],
  [{ command: 'echo', args: ['x'.repeat(100_001)] }],
  [{ command: 'echo', args: Array.from({ length: 20 }, () => 'x'.repeat(99_000)) }],
  [{ command: 'echo', cwd: '.' }],
])('the arguments of case %# are invalid', async (args) => {
  expect(await workspace().result('Bash', args)).toMatchObject({ ok: false, error: { code: 'EVALIDATION' } });
});

// covers S4-41
test('the gate sees the words that run', () => {
  expect(tool.touches?.({ command: 'echo', args: ['a b'] })).toEqual({ argv: ['echo', 'a b'], cwd: '.' });
  expect(tool.touches?.({ command: 'git' })).toEqual({ argv: ['git'], cwd: '.' });
  expect(tool.touches?.({ command: 'ls;id' })).toEqual({ command: 'ls;id', cwd: '.' });
  expect(tool.touches?.({ command: 'ls -a', args: [] })).toEqual({ argv: ['ls -a'], cwd: '.' });
});

// covers S4-28
test('a person who decides sees the command', async () => {
  const shown = { kind: 'command', cwd: '.', network: [] };
  expect(await workspace().preview('Bash', { command: 'ls | cat' })).toEqual({ ...shown, command: 'ls | cat' });
  const args = ["it's", 'a=b', ''];
  expect(await workspace().preview('Bash', { command: 'echo', args })).toEqual({
    ...shown,
    command: "echo 'it'\\''s' a=b ''",
  });
});
