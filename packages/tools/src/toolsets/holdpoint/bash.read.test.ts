import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const bash = (command: string, more: object = {}) => workspace().call('bash', { command, ...more });

describe('bash', () => {
  it('returns the output of a pipe', async () => {
    expect(await bash('printf "b\\na\\n" | sort; echo problem >&2')).toMatchObject({
      status: 'succeeded',
      value: {
        exit_code: 0,
        signal: null,
        stdout: 'a\nb\n',
        stderr: 'problem\n',
        stdout_truncated: false,
        stdout_bytes: 4,
      },
      capabilities: { fs: 'enforced', net: 'enforced', pids: 'enforced' },
    });
  });

  it('runs in the workspace, or a directory of it', async () => {
    await workspace().put('src/a.txt', 'x');
    expect(await bash('pwd; ls')).toMatchObject({ value: { stdout: '/workspace\nsrc\n' } });
    expect(await bash('pwd; ls', { cwd: '/workspace/src' })).toMatchObject({
      value: { stdout: '/workspace/src\na.txt\n' },
    });
  });

  it('changes the workspace and leaves touched out', async () => {
    const outcome = await bash('echo made > made.txt');
    expect(outcome).not.toHaveProperty('touched');
    expect((await workspace().get('made.txt')).toString()).toBe('made\n');
  });

  it('reports a non-zero exit code with the output', async () => {
    expect(await bash('echo out; echo err >&2; exit 3')).toMatchObject({
      status: 'failed',
      error: { code: 'EEXIT', message: 'exit code 3' },
      value: { exit_code: 3, stdout: 'out\n', stderr: 'err\n' },
    });
  });

  it('reports a command that a signal ended', async () => {
    const outcome = await bash('exec kill -SEGV $$');
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EEXIT' } });
  });

  it('kills a command after its timeout, with everything it started', async () => {
    const outcome = await bash('trap "" TERM; setsid sleep 600 & echo started; sleep 600', { timeout_s: 1 });
    expect(outcome).toMatchObject({
      status: 'timed_out',
      error: { code: 'ETIMEOUT' },
      value: { exit_code: null, stdout: 'started\n' },
    });
  });

  it('does not wait for background children, and ends them', async () => {
    expect(await bash('(sleep 600; echo late > late.txt) & echo done')).toMatchObject({
      status: 'succeeded',
      value: { stdout: 'done\n' },
    });
    expect(await bash('pgrep sleep || echo none')).toMatchObject({ value: { stdout: 'none\n' } });
  });

  it('keeps the beginning and the end of a long output', async () => {
    const outcome = await bash('echo first; head -c 300000 /dev/zero | tr "\\0" x; echo; echo last');
    expect(outcome).toMatchObject({ status: 'succeeded', value: { stdout_truncated: true, stdout_bytes: 300_012 } });
    const { stdout } = (outcome as { value: { stdout: string } }).value;
    expect(stdout.startsWith('first\n')).toBe(true);
    expect(stdout.endsWith('last\n')).toBe(true);
    expect(stdout.length).toBeLessThan(80_000);
  });

  it('names the quota that a command passed', async () => {
    // The kernel sends this signal at the limit of a file's size.
    expect(await bash('echo begun; kill -XFSZ $$')).toMatchObject({
      status: 'failed',
      error: { code: 'EQUOTA', message: expect.stringContaining('file') },
      value: { exit_code: null, stdout: 'begun\n' },
    });
  });

  it('reports an aborted command as killed', async () => {
    const controller = new AbortController();
    const running = workspace().call('bash', { command: 'mkfifo ready; sleep 600' }, { signal: controller.signal });
    await expect.poll(() => workspace().value('list_directory', {}), { timeout: 10_000 }).toMatchObject({ total: 1 });
    controller.abort();
    expect(await running).toMatchObject({ status: 'killed', error: { code: 'EKILLED' } });
  });

  it('returns output that is not UTF-8', async () => {
    expect(await bash("printf 'caf\\351\\n'")).toMatchObject({ value: { stdout: 'caf\uFFFD\n' } });
  });

  it('has no network and no standard input', async () => {
    expect(
      await bash('cat; (exec 3<>/dev/tcp/127.0.0.1/6379) 2>/dev/null && echo reached || echo unreachable'),
    ).toMatchObject({
      value: { stdout: 'unreachable\n' },
    });
  });

  it.each([
    ['a missing directory', 'nope', 'ENOENT'],
    ['a file', 'a.txt', 'ENOTDIR'],
    ['a directory outside', '/etc', 'EOUTSIDE'],
  ])('reports %s as working directory as data', async (_name, cwd, code) => {
    await workspace().put('a.txt', 'x');
    expect(await bash('true', { cwd })).toMatchObject({ status: 'failed', error: { code } });
  });

  it('refuses a command with NUL or too many bytes', async () => {
    expect(await bash('echo \0')).toMatchObject({ error: { code: 'EINVALIDARGS' } });
    expect(await bash(`: ${'é'.repeat(60_000)}`)).toMatchObject({ error: { code: 'EINVALIDARGS' } });
    expect(await bash(`: ${'x'.repeat(99_000)}; echo long`)).toMatchObject({ value: { stdout: 'long\n' } });
  });
});
