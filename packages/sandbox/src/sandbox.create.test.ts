import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { gitEnvironment } from './git-environment.ts';
import { rejects, useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();

test("the exit code is the command's own", async ({ workspace }) => {
  for (const exit_code of [0, 1, 2, 125, 126, 127, 255]) {
    const { end } = await host.run(workspace, `exit ${exit_code}`);
    expect(end).toEqual({ status: 'exited', exit_code, signal: null });
  }
});

test('a signal is named', async ({ workspace }) => {
  for (const [signal, exit_code] of Object.entries({ SIGTERM: 143, SIGSEGV: 139 })) {
    const { end } = await host.run(workspace, `kill -${signal} $$`);
    expect(end).toEqual({ status: 'exited', exit_code, signal });
  }
});

test('a missing or non-executable program ends as in a shell', async ({ workspace }) => {
  const missing = await host.exec(workspace, ['no-such-program', '--help']);
  expect(missing.end).toEqual({ status: 'exited', exit_code: 127, signal: null });
  expect(missing.stderr.text).toContain('no-such-program: not found');
  const directory = await host.exec(workspace, ['/usr']);
  expect(directory.end).toEqual({ status: 'exited', exit_code: 126, signal: null });
});

test('a failed set-up is an error, not an exit code', async ({ workspace }) => {
  rmSync(workspace.path, { recursive: true });
  await rejects(host.run(workspace, 'true'), 'ESANDBOXSETUP', { retryable: true });
});

test('arguments arrive byte for byte', async ({ workspace }) => {
  const words = [
    '',
    ' ',
    '--',
    '-x',
    '$HOME',
    '`id`',
    "'",
    '"',
    '\n',
    'ü€𝄞',
    '*',
    '\\',
    '%s',
    '\x01',
    '\x7f',
    "';id;'",
    '!',
  ];
  const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
  const { stdout } = await host.exec(workspace, ['node', '-e', program, '--', ...words]);
  expect(JSON.parse(stdout.text)).toEqual(words);
});

test('the environment is the base plus the given variables, whatever the values', async ({ workspace }) => {
  const env = {
    A: 'x=y\n$HOME',
    PATH: '/usr/bin:/bin',
    BASH_ENV: '/workspace/x',
    IFS: 'a',
    EMPTY: '',
    U: 'ü',
    Q: "it's",
  };
  const { stdout } = await host.exec(workspace, ['/usr/bin/env', '-0'], { env });
  const seen = Object.fromEntries(
    stdout.text
      .split('\0')
      .filter(Boolean)
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  const git = gitEnvironment('/opt/holdpoint/inside/etc/gitconfig');
  expect(seen).toEqual({ HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp', SHLVL: '0', ...git, ...env });
});

test('a variable that bash keeps to itself is not set, and the others reach the command', async ({ workspace }) => {
  const env = { BEFORE: '1', UID: '5', LC_ALL: 'C', AFTER: '2' };
  const { stdout } = await host.exec(workspace, ['/usr/bin/env'], { env });
  expect(stdout.text).toMatch(/^BEFORE=1$/m);
  expect(stdout.text).toMatch(/^AFTER=2$/m);
  expect(stdout.text).toMatch(/^LC_ALL=C$/m);
  expect(stdout.text).not.toContain('UID=5');
});

test('a preloaded library runs only after the limits are set', async () => {
  const { stdout, stderr } = await host.run(host.makeWorkspace(), 'ulimit -n', {
    env: { LD_PRELOAD: '/workspace/none.so' },
    limits: { open_files: 77 },
  });
  expect(stdout.text).toBe('77\n');
  // Once: for bash, and not for the program that starts it.
  expect(stderr.text.match(/none\.so/g)).toHaveLength(1);
});

test('stdin ends, and a command may ignore it', async ({ workspace }) => {
  const stdin = 'x'.repeat(3_000_000);
  expect((await host.run(workspace, 'wc -c', { stdin })).stdout.text).toBe('3000000\n');
  expect((await host.run(workspace, 'exit 3', { stdin })).end).toMatchObject({ exit_code: 3 });
  expect((await host.run(workspace, 'cat')).stdout.text).toBe('');
});

test('a working directory outside the workspace is refused', async ({ workspace }) => {
  mkdirSync(join(workspace.path, 'a/b'), { recursive: true });
  for (const [cwd, pwd] of [
    ['a/b', '/workspace/a/b'],
    ['./a/', '/workspace/a'],
    ['/workspace/a', '/workspace/a'],
    ['/workspace', '/workspace'],
    ['a/..', '/workspace'],
  ] as const) {
    expect((await host.run(workspace, 'pwd', { cwd })).stdout.text).toBe(`${pwd}\n`);
  }
  for (const cwd of ['..', 'a/../..', '/', '/etc', '/workspace/../etc', 'a\0b', 'missing']) {
    await rejects(host.run(workspace, 'true', { cwd }), 'ECOMMANDINVALID', { retryable: false });
  }
});

test('arguments that Linux cannot pass are refused with the reason', async ({ workspace }) => {
  const refuse = async (argv: [string, ...string[]], env?: Record<string, string>) => {
    const running = host.exec(workspace, argv, { env });
    await expect(running).rejects.toMatchObject({ code: 'ECOMMANDINVALID', retryable: false });
  };
  await refuse(['echo', 'a\0b']);
  await refuse(['echo', 'x'.repeat(128 * 1024)]);
  await refuse(['echo', ...Array.from({ length: 40 }, () => 'x'.repeat(100_000))]);
  await refuse(['env'], { 'NOT-A-NAME': '1' });
  await refuse(['env'], { A: 'a\0b' });
});

test('concurrent commands do not affect each other', async () => {
  const workspaces = Array.from({ length: 3 }, () => host.makeWorkspace());
  const outputs = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const workspace = workspaces[index % 3];
      return workspace && (await host.run(workspace, `echo ${index}; ls -A /tmp`)).stdout.text;
    }),
  );
  expect(outputs).toEqual(Array.from({ length: 12 }, (_, index) => `${index}\n`));
});

test('the kernel prefers commands to the worker when the host runs out of memory', async ({ workspace }) => {
  const line = 'cat /proc/self/oom_score_adj /proc/1/oom_score_adj | tr "\\n" " "';
  const results = await Promise.all(Array.from({ length: 30 }, () => host.run(workspace, line)));
  expect(new Set(results.map(({ stdout }) => stdout.text))).toEqual(new Set(['500 500 ']));
});
