import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { PastCalls } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { clemini } from './toolset.ts';

const workspace = useWorkspace(clemini);
const bash = (command: unknown, more: object = {}, context: object = {}) =>
  workspace().result('bash', { command, ...more }, context);
const failed = (error_code: string, error = /./) => ({ error_code, error: expect.stringMatching(error) });
const flagged = { caution: 'it deletes or destroys files' };

// covers S3-70, S3-77
test('a command returns both streams and its exit code', async () => {
  expect(await bash('echo out; echo ä >&2')).toEqual({ stdout: 'out\n', stderr: 'ä\n', exit_code: 0 });
  expect(await bash('exit 3')).toEqual({ stdout: '', stderr: '', exit_code: 3 });
  expect(await bash('no-such-program')).toMatchObject({ exit_code: 127, stderr: expect.stringMatching(/not found/) });
  expect(await bash('kill -9 $$')).toMatchObject({ exit_code: 137 });
  expect(await bash('for i in 1 2\ndo echo $i\ndone', { description: 'Counts' })).toMatchObject({ stdout: '1\n2\n' });
});

// covers S3-05, S3-06, S3-71, C-02, C-09
test('a command runs in a directory of the workspace and nowhere else', async () => {
  const { path, put } = workspace();
  await mkdir(join(path, 'front end'));
  await put('file', '');
  await symlink('/etc', join(path, 'etc'));
  const within = (working_directory: unknown, context: object = {}) => bash('pwd', { working_directory }, context);
  expect(await within('front end')).toMatchObject({ stdout: '/workspace/front end\n' });
  expect(await within('/workspace/front end')).toMatchObject({ stdout: '/workspace/front end\n' });
  for (const outside of ['/etc', '..', 'etc']) {
    expect(await within(outside)).toMatchObject(failed('ACCESS_DENIED', /is outside allowed paths/));
  }
  expect(await within('.', { settings: { allowed_paths: ['front end'] } })).toMatchObject(failed('ACCESS_DENIED'));
  expect(await within('none')).toMatchObject(failed('NOT_FOUND', /^Directory not found: none/));
  expect(await within('file')).toMatchObject(failed('INVALID_ARGUMENT'));
  for (const args of [
    ...[{}, { command: ' ' }, { command: 'a\0' }, { command: ['ls'] }, { command: 'x'.repeat(100_001) }],
    ...[
      { command: 'ls', timeout_seconds: 0 },
      { command: 'ls', confirmed: 'true' },
      { command: 'ls', cwd: '.' },
    ],
  ]) {
    expect(await workspace().result('bash', args)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
});

// covers S3-78, S3-110, C-06
test('a command that takes too long, or prints too much, is cut', async () => {
  const late = await bash('echo begun; (sleep 30; touch late) & sleep 30', { timeout_seconds: 1 });
  expect(late).toMatchObject({
    ...failed('TIMEOUT', /after 1 s .* Raise timeout_seconds/),
    context: { stdout: 'begun\n', stderr: '' },
  });
  const { stdout } = (await bash("printf 'é%.0s' {1..40000}; echo end")) as { stdout: string };
  expect(Buffer.byteLength(stdout)).toBeLessThan(51_000);
  expect(stdout).toMatch(/^é+/);
  expect(stdout).not.toContain('\ufffd\ufffd');
  expect(stdout).toMatch(/end\n\n\[truncated: 80004 bytes in all/);
  const small = (await bash('seq 10000', {}, { settings: { output_bytes: 1024 } })) as { stdout: string };
  expect(Buffer.byteLength(small.stdout)).toBeLessThan(1300);
});

// covers S3-72
test('a command in the background is a task with an id', async () => {
  const started = await workspace().call('bash', {
    ...{
      command: 'sleep 3; echo done',
      description: 'Waits\nlong',
      run_in_background: true,
      working_directory: '/workspace',
    },
  });
  expect(started).toMatchObject({
    value: { task_id: 'task_1', status: 'running' },
    task: { kind: 'shell', title: 'Waits', spec: { command: 'sleep 3; echo done', cwd: '.' } },
  });
  expect(started).not.toHaveProperty('task.spec.timeout_ms', expect.anything());
  const timed = { command: 'sleep 3', run_in_background: true, timeout_seconds: 7 };
  expect(await workspace().call('bash', timed)).toMatchObject({ task: { spec: { timeout_ms: 7000 } } });
  const outside = { command: 'ls', run_in_background: true, working_directory: '/etc' };
  expect(await workspace().call('bash', outside)).not.toHaveProperty('task');
});

// covers S3-74, S3-75, C-03
// choices S3-A06
test('a command to be careful with runs when it was flagged before, or a person let it', async () => {
  await workspace().put('a', 'x');
  const refused = {
    error: 'Command requires confirmation. Re-run with confirmed=true',
    error_code: 'NEEDS_CONFIRMATION',
    needs_confirmation: true,
    context: { reason: 'ENEEDSCONFIRMATION', why: 'it deletes or destroys files' },
  };
  const there = async () => ((await workspace().value('glob', { pattern: 'a' })) as { count: number }).count === 1;
  expect(await bash('rm a', {}, flagged)).toEqual(refused);
  // An approval of a policy is for what was asked, and the contract still wants the second call.
  expect(await bash('rm a', {}, { ...flagged, approved: true })).toEqual(refused);
  expect(await bash('rm a', { run_in_background: true }, flagged)).toEqual(refused);
  const selfConfirmed = failed('BLOCKED', /^Command blocked: it was confirmed before it was flagged/);
  expect(await bash('rm a', { confirmed: true }, flagged)).toMatchObject(selfConfirmed);
  expect(await there()).toBe(true);
  expect(await bash('rm a', { confirmed: true }, { ...flagged, approved: true })).toMatchObject({ exit_code: 0 });
  expect(await there()).toBe(false);
  // What needs no care needs no confirmation, and takes one.
  expect(await bash('echo remove', { confirmed: true })).toMatchObject({ exit_code: 0 });
});

// covers S3-75
// choices S3-A06
test('only the same command counts as flagged', async () => {
  await workspace().put('a', 'x');
  const asked: unknown[] = [];
  const past = (args: object): PastCalls => ({
    last: async () => undefined,
    search: async () => ({ hits: [] }),
    had: async (call, code) => {
      asked.push(call);
      return code === 'ENEEDSCONFIRMATION' && JSON.stringify(call.args) === JSON.stringify(args);
    },
  });
  const parsed = {
    ...{ command: 'rm a', working_directory: '.', confirmed: false, run_in_background: false },
  };
  const confirm = (command: string, flaggedArgs: object, more: object = {}) =>
    bash(command, { confirmed: true, ...more }, { ...flagged, past: past(flaggedArgs) });
  expect(await confirm('rm b', parsed)).toMatchObject(failed('BLOCKED'));
  expect(await confirm('rm a', { ...parsed, working_directory: 'x' })).toMatchObject(failed('BLOCKED'));
  expect(await confirm('rm a', parsed, { description: 'again' })).toMatchObject({ exit_code: 0 });
  expect(asked.length).toBeGreaterThan(0);
});

// covers S3-74
test('a person sees the command and where it would run', async () => {
  const { preview } = workspace();
  expect(await preview('bash', { command: 'make', working_directory: '/workspace/a' })).toEqual({
    ...{ kind: 'command', command: 'make', cwd: 'a', network: [] },
  });
  const background = { command: 'make', run_in_background: true };
  expect(await preview('bash', background)).toMatchObject({ cwd: '.', background: true });
});
