import type { PastCall } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { cliAgent } from './toolset.ts';

const workspace = useWorkspace(cliAgent);
const run = (command: unknown, more: object = {}) => workspace().result('run_in_terminal', { command, ...more });
const failed = (code: string, message?: string) => ({
  success: false,
  ...(message !== undefined && { output: `Error: ${message}` }),
  error: { code, suggestion: expect.stringMatching(/./) },
});

// covers S0-03, S0-70, S0-140
test('run_in_terminal returns the output of a command in the working directory', async () => {
  expect(await run('echo hello')).toEqual({
    success: true,
    output: 'Command output:\nhello\n',
    files_affected: [],
    metadata: { exit_code: 0, stdout_lines: 1, stderr_lines: 0 },
    execution_time_ms: 7,
  });
  for (const [command, output, stdout_lines, stderr_lines] of [
    ['true', '', 0, 0],
    ['printf a', 'a\n', 1, 0],
    ['pwd', '/workspace\n', 1, 0],
    ["echo '😀 $&' | cat", '😀 $&\n', 1, 0],
    ['echo out; echo err >&2', 'out\nErrors:\nerr\n', 1, 1],
    ['for i in 1 2 3; do echo $i; done', '1\n2\n3\n', 3, 0],
  ] as const) {
    expect(await run(command), command).toMatchObject({
      output: `Command output:\n${output}`,
      metadata: { exit_code: 0, stdout_lines, stderr_lines },
    });
  }
});

// covers S0-71, S0-73, S0-74, S0-02, S0-140
test('run_in_terminal says why a command failed', async () => {
  expect(await run('echo out; echo why >&2; exit 3')).toMatchObject({
    ...failed('command_failed', 'Command failed with exit code 3:\nwhy\n'),
    metadata: { exit_code: 3, stdout_lines: 1, stderr_lines: 1 },
  });
  expect(await run('nosuchprogram --x')).toMatchObject(
    failed('command_not_found', "Command 'nosuchprogram' not found"),
  );
  expect(await run('./missing.sh')).toMatchObject(failed('command_not_found', "Command './missing.sh' not found"));
  expect(await run('exit 127')).toMatchObject(failed('command_failed'));
  for (const command of ['', '  \n', undefined, 5, 'a\0b', 'x'.repeat(100_001)]) {
    expect(await run(command)).toMatchObject(failed('invalid_parameters'));
  }
  for (const timeout_seconds of [0, 301, 1.5, '3']) {
    expect(await run('true', { timeout_seconds })).toMatchObject(failed('invalid_parameters'));
  }
  expect(await run('true', { cwd: '/' })).toMatchObject(failed('invalid_parameters'));
});

// covers S0-72
test('run_in_terminal ends a command with everything it started', async () => {
  expect(await run('sleep 30 & echo begun; sleep 30', { timeout_seconds: 1 })).toMatchObject({
    ...failed('command_timeout', 'Command timed out after 1 seconds'),
    metadata: { exit_code: null, stdout_lines: 1 },
  });
});

test('run_in_terminal keeps a long output up to the setting', async () => {
  const command = 'head -c 200000 /dev/zero | tr "\\0" x';
  expect(((await run(command)) as { output: string }).output).toContain('x'.repeat(200_000));
  const cut = await workspace().result('run_in_terminal', { command }, { settings: { max_output_bytes: 2000 } });
  expect(cut).toMatchObject({ metadata: { truncated: true } });
  expect((cut as { output: string }).output.length).toBeLessThan(2300);
});

test('a person who decides sees the command', async () => {
  expect(await workspace().preview('run_in_terminal', { command: 'ls' })).toEqual({
    ...{ kind: 'command', command: 'ls', cwd: '.', network: [] },
  });
});

/** What the run has done: one call, with the value that the tool returned. */
async function after(command: string | undefined, more: Partial<PastCall> = {}) {
  const past = async (): Promise<PastCall | undefined> => {
    if (command === undefined) return undefined;
    const args = { command };
    const outcome = await workspace().call('run_in_terminal', args);
    if (outcome.status === 'deferred') throw new Error('it waits');
    const { status, value } = outcome;
    const started_at = '2026-01-01T00:00:00.000Z';
    return { step_id: 'step_1', tool: 'run_in_terminal', args, status, value: value as never, started_at, ...more };
  };
  const last: ToolContext['past']['last'] = async (tools, options) => {
    expect([tools, options]).toEqual([['run_in_terminal'], { begun: true }]);
    return past();
  };
  return workspace().result(
    'terminal_last_command',
    {},
    { past: { last, had: async () => false, search: async () => ({ hits: [] }) } },
  );
}

// covers S0-80, S0-81, S0-140
test('terminal_last_command shows the last command of the session', async () => {
  expect(await after('echo two')).toEqual({
    success: true,
    output: 'Last command: echo two\nOutput: two\n',
    files_affected: [],
    metadata: { command: 'echo two', exit_code: 0, executed_at: '2026-01-01T00:00:00.000Z' },
    execution_time_ms: 7,
  });
  expect(await after('echo out; echo err >&2; exit 3')).toMatchObject({
    output: 'Last command: echo out; echo err >&2; exit 3\nOutput: out\nerr\n',
    metadata: { exit_code: 3 },
  });
  expect(await after('nosuchprogram')).toMatchObject({ metadata: { exit_code: 127 } });
  expect(await after('true')).toMatchObject({ output: 'Last command: true\nOutput: ' });
  expect(await after("printf 'a\\nb'")).toMatchObject({ output: "Last command: printf 'a\\nb'\nOutput: a\nb\n" });
  expect(await after('sleep 1', { status: 'killed', value: undefined })).toMatchObject({
    metadata: { exit_code: null },
  });
  const none = failed('no_command_history', 'No previous command in this session');
  expect(await after(undefined)).toMatchObject(none);
  expect(await after('echo one', { edited: { command: 'echo two' } })).toMatchObject({
    metadata: { command: 'echo two' },
  });
  for (const args of [{ x: 1 }, 'text', null]) {
    expect(await workspace().result('terminal_last_command', args)).toMatchObject(failed('invalid_parameters'));
  }
});

// covers C-11, S0-03
test('a command killed by a limit is a failure with its output so far', async () => {
  // The kernel sends this signal at the limit of a file's size.
  const command = 'echo begun; kill -XFSZ $$';
  expect(await workspace().result('run_in_terminal', { command })).toMatchObject({
    ...{ success: false, files_affected: [], metadata: { exit_code: null, stdout_lines: 1 } },
    error: { code: 'command_failed' },
  });
});
