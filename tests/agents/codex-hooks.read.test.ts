import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { projectDir } from '../harness/index.ts';
import { openScriptedModel, type Says } from './scripted-model.ts';

/**
 * Why the mode native is not built for Codex: what its hooks and its approval requests leave out, seen with the real Codex. When one of these tests
 * fails, a newer Codex may be one that a gate can hold.
 */
const toolchain = join(projectDir, '.cache/agents');
const isThere = existsSync(join(toolchain, 'bin/codex'));
const place = mkdtempSync(join(tmpdir(), 'holdpoint-codex-'));
const workspace = join(place, 'workspace');
const heard = join(place, 'heard');
let codex: ChildProcessWithoutNullStreams | undefined;
afterEach(async () => {
  codex?.kill('SIGKILL');
  if (codex?.exitCode === null) await new Promise((resolve) => codex?.on('close', resolve));
  rmSync(place, { recursive: true, force: true, maxRetries: 10 });
});

/** A shell that stays, and a file that is written by typing into this shell. */
const typing = [
  { tool: 'exec_command', args: { cmd: 'bash', tty: true, yield_time_ms: 300 } },
  { tool: 'write_stdin', args: { session_id: 0, chars: 'touch typed; echo typed-$((1+1))\n' } },
];

/** A model that starts the shell and types into it, once each. */
function types({ text }: { text: string }): Says {
  const session = /session ID (\d+)/.exec(text)?.[1];
  if (text.includes('typed-2')) return { text: 'Done.' };
  const [begin, type] = typing;
  if (session === undefined) return { calls: begin ? [begin] : [] };
  return { calls: type ? [{ ...type, args: { ...type.args, session_id: Number(session) } }] : [] };
}

function startCodex(args: readonly string[], url: string, more = ''): ChildProcessWithoutNullStreams {
  mkdirSync(workspace, { recursive: true });
  mkdirSync(join(place, '.codex'), { recursive: true });
  const provider = `[model_providers.held]\nname = "held"\nbase_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n`;
  const settings = `model_provider = "held"\nsandbox_mode = "danger-full-access"\n[features]\nunified_exec = false\n[analytics]\nenabled = false\n${provider}${more}`;
  writeFileSync(join(place, '.codex/config.toml'), settings);
  const env = { PATH: `${join(toolchain, 'bin')}:${process.env.PATH}`, OPENAI_API_KEY: 'none', HOME: place };
  codex = spawn('codex', args, { cwd: workspace, env });
  codex.stderr.resume();
  return codex;
}

const hooks = ['PreToolUse', 'PostToolUse']
  .map(
    (event) =>
      `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = "cat >> ${heard}; echo >> ${heard}"\n`,
  )
  .join('');

/** Runs a prompt with hooks that write down what they hear. */
async function runHooked(model: string, url: string): Promise<{ hook_event_name: string; tool_input: object }[]> {
  const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', '-m', model];
  const program = startCodex(['exec', ...options, '-'], url, hooks);
  program.stdin.end('Do it');
  program.stdout.resume();
  await new Promise((resolve) => program.on('close', resolve));
  if (!existsSync(heard)) return [];
  return readFileSync(heard, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test.skipIf(!isThere)(
  'hooks: text typed into a running command runs unasked, and the command is never reported',
  async () => {
    await using model = await openScriptedModel(types);
    const calls = await runHooked('a-model', model.url);
    expect(calls.map(({ hook_event_name, tool_input }) => [hook_event_name, tool_input])).toEqual([
      ['PreToolUse', { command: 'bash' }],
    ]);
    expect(existsSync(join(workspace, 'typed'))).toBe(true);
  },
);

test.skipIf(!isThere)('hooks: the models of its own list get one tool, a program that makes the calls', async () => {
  await using model = await openScriptedModel(() => ({ text: 'Done.' }));
  await runHooked('gpt-6.2-sol', model.url);
  const { tools = [], input } = JSON.parse(model.asked[0]?.text ?? '{}') as { tools?: object[]; input: object[] };
  expect(tools).toEqual([]);
  const [given] = input as {
    type: string;
    tools: { tools: { type: string; name: string; description: string }[] }[];
  }[];
  const exec = given?.tools.flatMap((one) => one.tools).find(({ name }) => name === 'exec');
  expect(exec).toMatchObject({ type: 'custom', description: expect.stringContaining('tools.exec_command') });
});

test.skipIf(!isThere)('approval requests: text typed into a running command runs without a request', async () => {
  await using model = await openScriptedModel(types);
  const program = startCodex(['app-server'], model.url);
  const send = (message: object) => void program.stdin.write(`${JSON.stringify(message)}\n`);
  const requests: unknown[] = [];
  send({ id: 'begin', method: 'initialize', params: { clientInfo: { name: 'test', title: 'test', version: '1' } } });
  for await (const line of createInterface({ input: program.stdout })) {
    const { id, method, result, params } = JSON.parse(line);
    if (id === 'begin') {
      send({ method: 'initialized' });
      send({
        id: 'thread',
        method: 'thread/start',
        params: { model: 'a-model', cwd: workspace, approvalPolicy: 'untrusted' },
      });
    }
    if (id === 'thread') {
      const input = [{ type: 'text', text: 'Do it' }];
      send({ id: 'turn', method: 'turn/start', params: { threadId: result.thread.id, input } });
    }
    if (method?.endsWith('requestApproval')) {
      requests.push(params.command);
      send({ id, result: { decision: 'accept' } });
    }
    if (method === 'turn/completed') break;
  }
  expect(requests).toEqual([expect.stringMatching(/ bash$/)]);
  expect(existsSync(join(workspace, 'typed'))).toBe(true);
});
