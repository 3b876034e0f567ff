import type { TaskView } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { bareContext, noTasks } from '../../testing/bare-context.ts';
import { useWorkspace } from '../../testing/workspace.ts';
import { executeBash } from './execute-bash.ts';
import { ryan } from './toolset.ts';

const workspace = useWorkspace(ryan);
const bash = (command: string, settings: object = {}, more: object = {}) =>
  workspace().result('execute_bash', { command, ...more }, { settings });

// covers S1-01, S1-03, S1-06, S1-10
test('returns the output with the metadata of the call, durations in nanoseconds', async () => {
  expect(await bash("echo 'Hello World'")).toEqual({
    success: true,
    content: 'Hello World\n',
    data: { exit_code: 0, bytes: 12, truncated: false },
    metadata: {
      execution_time: 7_000_000,
      queue_time: 10_000_000,
      total_time: 17_000_000,
      start_time: '2026-01-01T00:00:00.010Z',
      end_time: '2026-01-01T00:00:00.017Z',
      tool_name: 'execute_bash',
      parameters: { command: "echo 'Hello World'" },
    },
  });
});

// covers S1-10
test('has stdout and stderr in the order in which they were printed', async () => {
  expect(await bash('for i in 1 2 3; do echo out$i; echo err$i >&2; done')).toMatchObject({
    content: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n',
  });
});

// covers S1-11, S1-13
test('runs in the given directory when the directory exists and is allowed', async () => {
  await workspace().put('src/a.txt', 'x');
  await workspace().put('doc/b.txt', 'x');
  const at = (working_directory: string, settings = {}) => bash('pwd; ls', settings, { working_directory });
  expect(await at('src')).toMatchObject({ content: '/workspace/src\na.txt\n' });
  expect(await at('/workspace/src/')).toMatchObject({ content: '/workspace/src\na.txt\n' });
  expect(await at('/etc')).toMatchObject({ success: false, error: expect.stringContaining('outside') });
  expect(await at('..')).toMatchObject({ success: false, content: '' });
  expect(await at('missing')).toMatchObject({ success: false, error: expect.stringContaining('missing') });
  expect(await at('src/a.txt')).toMatchObject({ success: false });
  const only = { directories: ['src'] };
  expect(await at('src', only)).toMatchObject({ success: true });
  expect(await at('doc', only)).toMatchObject({
    success: false,
    error: expect.stringContaining('security: doc is not'),
  });
  expect(await bash('ln -s ../doc src/link')).toMatchObject({ success: true });
  expect(await at('src/link', only)).toMatchObject({ success: false, error: expect.stringContaining('allowed') });
  expect(await bash('pwd', only)).toMatchObject({ success: false });
});

// covers S1-14
test('ends a command after its time limit, and keeps what it printed', async () => {
  expect(await bash('echo begun; sleep 60', { timeout_ms: 300 })).toMatchObject({
    success: false,
    error: expect.stringContaining('timed out'),
    content: 'begun\n',
    metadata: { tool_name: 'execute_bash' },
  });
});

// covers S1-15
test('names the exit code of a command that fails, with its output', async () => {
  expect(await bash('echo out; echo why >&2; exit 3')).toMatchObject({
    success: false,
    error: 'command failed with exit code 3',
    content: 'out\nwhy\n',
    data: { exit_code: 3 },
  });
});

test('keeps a long output up to the setting', async () => {
  const print = 'head -c 200000 /dev/zero | tr "\\0" x';
  expect(((await bash(print)) as { content: string }).content).toBe('x'.repeat(200_000));
  const cut = (await bash(print, { max_output_bytes: 2000 })) as { content: string; data: object };
  expect(cut.content.length).toBeLessThan(2200);
  expect(cut.data).toMatchObject({ bytes: 200_000, truncated: true });
});

// covers S1-31
test.each([
  [{}, 'command'],
  [{ command: '   ' }, 'empty'],
  [{ command: 7 }, 'command'],
  [{ command: 'a\0b' }, 'NUL'],
  [{ command: 'x'.repeat(100_000) }, 'longer'],
  [{ command: 'ls', timeout: 3 }, 'timeout'],
  [{ command: 'ls', working_directory: '' }, 'working_directory'],
])('refuses the parameters %j', async (args, word) => {
  expect(await workspace().result('execute_bash', args)).toMatchObject({
    success: false,
    content: '',
    error: expect.stringContaining(word),
    metadata: { parameters: args, tool_name: 'execute_bash' },
  });
});

// covers S1-30
test('an unknown tool is not found', async () => {
  expect(await workspace().result('nonexistent', {})).toMatchObject({
    success: false,
    error: 'tool not found: nonexistent',
  });
});

const ended = (status: TaskView['status'], outcome: TaskView['outcome']): TaskView => ({
  ...{ id: 'task_1', kind: 'shell', title: '', status, created_at: '', outcome },
});

// covers S1-05
test('the line of a concurrent command does the same, and changes to its directory first', async () => {
  await workspace().put('src/a.txt', 'x');
  await workspace().put("it's/b.txt", 'x');
  const beside = (args: { command: string; working_directory?: string }, settings: object = {}) => {
    const { command } = executeBash.beside?.task(args, settings).spec ?? { command: '' };
    return workspace().result('execute_bash', { command });
  };
  expect(await beside({ command: 'echo a; echo b >&2' })).toMatchObject({ content: 'a\nb\n' });
  expect(await beside({ command: 'pwd', working_directory: 'src' })).toMatchObject({ content: '/workspace/src\n' });
  expect(await beside({ command: 'ls', working_directory: "it's" })).toMatchObject({ content: 'b.txt\n' });
  for (const [working_directory, settings] of [
    ['missing', {}],
    ['../etc', {}],
    ['/etc', {}],
    ['src', { directories: ["it's"] }],
    [undefined, { directories: ['src'] }],
  ] as const) {
    const refused = await beside({ command: 'echo ran', ...(working_directory && { working_directory }) }, settings);
    expect(refused).toMatchObject({ content: 'holdpoint: the working directory is missing or not allowed\n' });
  }
});

// covers S1-05, S1-14, S1-15
test('a command that ran beside others has the same result', async () => {
  const settle = async (task: TaskView, text: string, total = text.length, settings: object = {}) => {
    const output: typeof noTasks.output = async (_id, { from, maxBytes }) => ({
      ...{ text: text.slice(from, from + maxBytes), from, next: from, total, omitted: 0 },
    });
    const context = { ...bareContext(), settings, tasks: { ...noTasks, output } };
    return executeBash.beside?.settle(context, { command: 'x' }, task);
  };
  expect(await settle(ended('completed', { exit_code: 0 }), 'done\n')).toEqual({
    status: 'succeeded',
    value: { exit_code: 0, output: 'done\n', bytes: 5, truncated: false },
  });
  expect(await settle(ended('failed', { exit_code: 4 }), 'no\n')).toMatchObject({
    status: 'failed',
    error: { code: 'EEXIT', message: 'command failed with exit code 4' },
    value: { output: 'no\n' },
  });
  const late = { exit_code: null, reason: { code: 'ETIMEOUT', message: 'It still ran.' } };
  expect(await settle(ended('timed_out', late), '')).toMatchObject({
    status: 'timed_out',
    error: { code: 'ETIMEOUT' },
  });
  expect(await settle(ended('lost', { exit_code: null }), '')).toMatchObject({ status: 'killed' });
  const refusal = 'holdpoint: the working directory is missing or not allowed\n';
  expect(await settle(ended('failed', { exit_code: 125 }), refusal)).toMatchObject({
    error: { code: 'EPATHNOTALLOWED' },
  });
  const long = 'abcdefgh'.repeat(1000);
  const cut = await settle(ended('completed', { exit_code: 0 }), long, long.length, { max_output_bytes: 1024 });
  expect(cut).toMatchObject({ value: { bytes: 8000, truncated: true } });
  await expect(settle(ended('running', undefined), '')).rejects.toThrow('still runs');
});

test('a person who decides sees the command, its directory and its hosts', async () => {
  expect(await workspace().preview('execute_bash', { command: 'ls', working_directory: 'src' })).toEqual({
    kind: 'command',
    command: 'ls',
    cwd: 'src',
    network: [],
  });
});
