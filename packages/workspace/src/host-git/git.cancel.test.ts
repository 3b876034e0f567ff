import { execFileSync, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGit } from './git.ts';

const git = createGit({});
/** git that waits, and says in its command line who started it. */
const waiting = (mark: string) => ['-c', `alias.wait=!sleep 3 # ${mark}`, 'wait'];
const isRunning = (mark: string): boolean => execFileSync('ps', ['-eo', 'args']).includes(`# ${mark}`);

test('an aborted call kills git and throws the reason', async () => {
  const mark = `aborted-${process.pid}`;
  const abort = new AbortController();
  const run = git.run(waiting(mark), { signal: abort.signal });
  const stream = git.stream(['cat-file', '--batch'], { signal: abort.signal });
  await expect.poll(() => isRunning(mark)).toBe(true);
  abort.abort(new Error('no longer needed'));
  await expect(run).rejects.toThrow('no longer needed');
  await expect(stream.done).rejects.toThrow('no longer needed');
  await expect(git.run(['--version'], { signal: abort.signal })).rejects.toThrow('no longer needed');
});

test('a git that waits ends with the process that started it', async () => {
  const mark = `orphan-${process.pid}`;
  const program = `
    const { createGit } = await import(${JSON.stringify(new URL('git.ts', import.meta.url).href)});
    createGit({}).run(${JSON.stringify(waiting(mark))});
    setTimeout(() => process.exit(0), 200);
  `;
  expect(spawnSync(process.execPath, ['--input-type=module', '--eval', program]).status).toBe(0);
  await expect
    .poll(() => execFileSync('ps', ['-eo', 'comm,args']).toString())
    .not.toMatch(RegExp(`^git .*# ${mark}`, 'm'));
});

test('more output than the limit is an error, and the limit itself is none', async () => {
  const { stdout } = await git.run(['--version']);
  expect((await git.run(['--version'], { maxBytes: stdout.length })).stdout).toEqual(stdout);
  await expect(git.run(['--version'], { maxBytes: stdout.length - 1 })).rejects.toMatchObject({
    code: 'EDIFFTOOLARGE',
  });
});

test('an exit code that is not accepted is an error with what git said', async () => {
  const missing = ['--git-dir=/nonexistent', 'rev-parse', '--git-dir'];
  expect(await git.run(missing, { accept: [0, 128] })).toEqual({ code: 128, stdout: Buffer.alloc(0) });
  const failed = { code: 'EGITFAILED', message: expect.stringContaining('not a git repository') };
  await expect(git.run(missing)).rejects.toMatchObject(failed);
  await expect(git.stream(missing).done).rejects.toMatchObject(failed);
});

test('a git that cannot be started is an error', async () => {
  const none = createGit({ gitPath: '/nonexistent/git' });
  await expect(none.run(['--version'], { input: 'text' })).rejects.toMatchObject({ code: 'EGITMISSING' });
  await expect(none.stream(['--version']).done).rejects.toMatchObject({ code: 'EGITMISSING' });
  await expect(git.run(['--version', 'a\0b'])).rejects.toMatchObject({ code: 'EGITFAILED' });
});

test('git may end before it has read its input', async () => {
  const input = Buffer.alloc(8 * 1024 * 1024);
  expect((await git.run(['--version'], { input })).code).toBe(0);
  const { stdin, stdout, done } = git.stream(['--version']);
  stdin.end(input);
  stdout.resume();
  await done;
  await delay(0);
});
