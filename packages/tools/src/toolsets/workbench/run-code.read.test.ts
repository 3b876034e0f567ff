import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { workbench } from './toolset.ts';

const workspace = useWorkspace(workbench);
const run = (language: 'python' | 'bash', code: string, more: object = {}, settings: object = {}) =>
  workspace().result('run_code', { language, code, ...more }, { settings });
const ended = (stdout: string, exitCode = 0, stderr = '') => ({
  ok: true,
  value: { stdout, stderr, exitCode, duration: 7 },
});
const isRefused = (code: string, reason: string) => ({ ok: false, error: { code, details: { reason } } });

// covers S2-80, C-12
test('python prints to both streams', async () => {
  expect(await run('python', "import sys;print('hi');print('e',file=sys.stderr)")).toEqual(ended('hi\n', 0, 'e\n'));
});

// covers S2-80
test('bash runs in the workspace', async () => {
  expect(await run('bash', 'echo made > r.txt; pwd')).toEqual(ended('/workspace\n'));
  expect(String(await workspace().get('r.txt'))).toBe('made\n');
});

// covers S2-81, S2-A07
test.each([
  ['python', 'import sys; sys.exit(3)', 3],
  ['python', 'import sys; sys.exit(127)', 127],
  ['python', 'raise ValueError', 1],
  ['python', 'syntax error here', 1],
  ['python', 'import os; os.kill(os.getpid(), 9)', 137],
  ['bash', 'exit 3', 3],
  ['bash', 'no-such-program', 127],
  ['bash', 'if', 2],
  ['bash', 'kill -SEGV $$', 139],
] as const)('%s: %s ends with %i, and that is a result', async (language, code, exitCode) => {
  expect(await run(language, code)).toMatchObject({ ok: true, value: { exitCode } });
});

// covers S2-80
test('arguments and variables arrive as they are', async () => {
  const args = ['', '-c', '--help', 'a b', '$HOME', '"', "'", '\n', '𝄞'];
  const env = { A: 'x=y $HOME', EMPTY: '' };
  const python = 'import json,os,sys;print(json.dumps([sys.argv[1:], os.environ["A"], os.environ["EMPTY"]]))';
  const result = (await run('python', python, { args, env })) as { value: { stdout: string } };
  expect(JSON.parse(result.value.stdout)).toEqual([args, 'x=y $HOME', '']);
  const bash = 'printf "%s\\0" "$@" "$A" "$EMPTY"';
  expect(await run('bash', bash, { args, env })).toEqual(ended([...args, env.A, '', ''].join('\0')));
});

// covers S2-80
test('there is no standard input, and the code is not its own', async () => {
  expect(await run('bash', 'cat\necho after')).toEqual(ended('after\n'));
  expect(await run('bash', 'read line; echo "[$line]"\necho after')).toEqual(ended('[]\nafter\n'));
  expect(await run('python', 'import sys\nprint(repr(sys.stdin.read()))\nprint(2)')).toEqual(ended("''\n2\n"));
});

// covers S2-80
test('code may be longer than an argument of a program', async () => {
  const long = 300_000;
  expect(await run('python', `x = "${'a'.repeat(long)}"\nprint(len(x))`)).toEqual(ended(`${long}\n`));
  expect(await run('bash', `x="${'a'.repeat(long)}"\necho \${#x}`)).toEqual(ended(`${long}\n`));
});

// covers S2-80, C-04
test('text in code is kept: quotes, other scripts and line ends', async () => {
  expect(await run('python', "print('𝄞 é $& \\\\ \"')\r\nprint(1)\r\n")).toEqual(ended('𝄞 é $& \\ "\n1\n'));
  expect(await run('bash', "cat <<'EOF'\n$HOME `id` \\n\nEOF")).toEqual(ended('$HOME `id` \\n\n'));
});

// covers S2-80
test('python finds modules of the workspace', async () => {
  await workspace().put('mine.py', 'answer = 42\n');
  expect(await run('python', 'import mine; print(mine.answer)')).toEqual(ended('42\n'));
});

// covers S2-84, S2-64, C-06
test('the time limit ends everything that was started, and what was printed is kept', async () => {
  const result = await run('bash', 'echo begun; sleep 600 & sleep 600', { timeout: 1 });
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'TIMEOUT', details: { reason: 'ETIMEOUT', value: { stdout: 'begun\n', stderr: '' } } },
  });
});

// covers S2-65, S2-84
test('a limit that kills the code is an EXECUTION_ERROR', async () => {
  expect(await run('bash', 'yes', {}, { output_bytes: 1000 })).toMatchObject(isRefused('EXECUTION_ERROR', 'EQUOTA'));
});

// covers S2-84
test('memory is bounded', async () => {
  const code = "x = bytearray(8 * 1024**3); print('AL' + 'LOC')";
  expect(JSON.stringify(await run('python', code))).not.toContain('ALLOC');
});

// covers S2-80
test('the output is whole', async () => {
  const result = await run('bash', "head -c 300000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero | tr '\\0' y >&2");
  expect(result).toEqual(ended('x'.repeat(300_000), 0, 'y'.repeat(100_000)));
});

// covers S2-82
test('there is no network', async () => {
  const code = `import socket
for target in [('127.0.0.1', 80), ('192.0.2.1', 80)]:
    s = socket.socket(); s.settimeout(2)
    try: s.connect(target); print('CONN' + 'ECTED')
    except OSError as e: print('refused')`;
  expect(await run('python', code)).toEqual(ended('refused\nrefused\n'));
});

// covers S2-82
test.each([
  [{}, false],
  [{ code_network: true }, true],
])('with the settings %j the command asks for the network: %s', async (settings, network) => {
  const asked: unknown[] = [];
  const command: ToolContext['run'] = async (request) => {
    asked.push(request.network);
    throw new Error('seen');
  };
  await expect(
    workspace().call('run_code', { language: 'bash', code: 'true' }, { settings, run: command }),
  ).rejects.toThrow('seen');
  expect(asked).toEqual([network]);
});

// covers S2-83
test('no file outside of the workspace is changed or read', async () => {
  const code = 'touch /etc/x /usr/x /workspace2/x 2>/dev/null; cat /root/* /home/*/* 2>/dev/null; echo "end $?"';
  expect(await run('bash', code)).toMatchObject({ ok: true, value: { stdout: expect.stringMatching(/^end \d+\n$/) } });
});

// covers S2-65
test('an interpreter that is missing is an EXECUTION_ERROR', async () => {
  expect(await run('python', 'print(1)', { env: { PATH: '/none' } })).toMatchObject(
    isRefused('EXECUTION_ERROR', 'ENOINTERPRETER'),
  );
  expect(await run('bash', 'echo 1', { env: { PATH: '/none' } })).toEqual(ended('1\n'));
});

// covers S2-66, C-09
test.each([
  [{ code: 'x' }],
  [{ language: 'ruby', code: 'x' }],
  [{ language: 'bash' }],
  [{ language: 'bash', code: 'a\0b' }],
  [{ language: 'bash', code: 'x', args: 'a' }],
  [{ language: 'bash', code: 'x', args: ['a\0'] }],
  [{ language: 'bash', code: 'x', args: ['a'.repeat(40_000)] }],
  [{ language: 'bash', code: 'x', args: Array.from({ length: 100 }, () => 'é'.repeat(30_000)) }],
  [{ language: 'bash', code: 'x', env: { 'A-B': 'x' } }],
  [{ language: 'bash', code: 'x', env: { A: 1 } }],
  [{ language: 'bash', code: 'x', timeout: 0 }],
  [{ language: 'bash', code: 'x', timeout: '1' }],
  [{ language: 'bash', code: 'x', shell: true }],
])('refuses the arguments of case %#', async (args) => {
  expect(await workspace().result('run_code', args)).toMatchObject(isRefused('INVALID_ARGS', 'EINVALIDARGS'));
});

// covers S2-80
test('a policy sees the command and the program', async () => {
  const registry = createRegistry([workbench]);
  const describe = (args: object, network = false, settings?: object) =>
    registry.describe({ toolset: 'workbench', tool: 'run_code', args, network, settings });
  expect(describe({ language: 'bash', code: 'git push' })).toMatchObject({
    effect: 'workspace',
    touches: { command: 'git push', cwd: '.' },
  });
  expect(describe({ language: 'python', code: 'x', args: ['a'] })).toMatchObject({
    touches: { argv: ['python3', '-', 'a'] },
  });
  const code = { language: 'bash', code: 'true' };
  expect(describe(code, true, {})).toMatchObject({ effect: 'workspace' });
  expect(describe(code, true, { code_network: true })).toMatchObject({ effect: 'external' });
  expect(describe(code, true)).toMatchObject({ effect: 'external' });
});

// covers S2-80
test('a person sees the code, and where it may connect', async () => {
  const hosts = ['a.test'];
  const network = { hosts } as unknown as ToolContext['network'];
  const preview = (settings: object) =>
    createRegistry([workbench]).preview({
      ...{ toolset: 'workbench', tool: 'run_code', args: { language: 'bash', code: 'make' } },
      context: { network, settings, secrets: ['TOKEN'] } as unknown as ToolContext,
    });
  const shown = { kind: 'command', command: 'make', cwd: '.', secrets: ['TOKEN'] };
  expect(await preview({})).toEqual({ ...shown, network: [] });
  expect(await preview({ code_network: true })).toEqual({ ...shown, network: hosts });
});
