import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  approve,
  finished,
  git,
  nextApproval,
  placesWith,
  published,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { openScriptedModel, type ScriptedModel } from './scripted-model.ts';

const key = 'canary-key-of-the-provider';
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-own-agent-'));
const program = join(directory, 'acp-agent.mjs');
let model: ScriptedModel;
/** The next answers of the model. */
const refusals: number[] = [];
let system: System;
let worker: AppProcess;

beforeAll(async () => {
  chmodSync(directory, 0o755);
  copyFileSync(join(import.meta.dirname, 'acp-agent.mjs'), program);
  model = await openScriptedModel(() =>
    refusals.length > 0 ? { refusal: refusals.shift() as number } : { text: 'an answer' },
  );
  system = await startSystem({
    HOLDPOINT_TOOLCHAINS: directory,
    HOLDPOINT_OUTSIDE_AGENT_IDLE_MS: '3000',
    HOLDPOINT_SECRET_TOKEN: 'canary-secret-value',
    ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: model.url },
  });
  worker = await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

type Action = Record<string, unknown>;

const begin = async (actions: Action[], more: object = {}, flags = '') => {
  const path = await system.repositoryWith({ 'a.txt': 'one\n' });
  const { run } = await system.client.createRun({
    prompt: `ACTIONS ${JSON.stringify(actions)}`,
    outside_agent: `acp:node ${program} ${flags}`,
    model: 'anthropic/claude-sonnet-4-5',
    workspace: { source: { type: 'git', path } },
    ...more,
  });
  return { id: run.id, path };
};
const append = (text: string) => ({ call: 'bash', args: { command: `echo ${text} >> made` } });
const hold = { policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] } };
const stepsOf = async (id: string) =>
  (await system.client.listSteps(id)).data.map(({ tool, status }) => `${tool} ${status}`);
const fileOf = async (id: string, path: string) =>
  Buffer.concat(await Array.fromAsync(await system.client.readFile(id, { path }))).toString();
/** What the agent said in all turns. */
const wordsOf = async (id: string) => (await system.client.listTurns(id)).data.map(({ message }) => message).join('\n');
/** Processes of the agent on this host, in whatever sandbox. */
const processes = () =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(program)).length;

test('calls become steps, a message reaches the agent with a result, and the change is published', async () => {
  const { id, path } = await begin([
    { say: 'I begin.', call: 'read_file', args: { path: 'a.txt' } },
    { say: 'I think.', wait: 1500 },
    { call: 'write_file', args: { path: 'b.txt', content: 'two\n' } },
    { say: 'Done.' },
  ]);
  await until('it has read', async () => (await stepsOf(id)).includes('read_file succeeded'));
  let live = '';
  const showing = (async () => {
    for await (const event of system.client.liveEvents(id)) {
      if (event.type === 'live' && event.kind === 'model.text') live += event.text;
    }
  })();
  await until('its words are shown while it works', () => live.includes('I think.'));
  expect((await system.client.getRun(id)).status).toBe('running');
  await system.client.sendMessage(id, 'please hurry');
  const end = await finished(system.client, id);
  expect(end).toMatchObject({ status: 'succeeded', reason: null, request: { outside_agent: `acp:node ${program} ` } });
  await showing;
  expect(await stepsOf(id)).toEqual(['read_file succeeded', 'write_file succeeded']);
  const words = await wordsOf(id);
  expect(words).toContain('I begin.');
  expect(words).toContain('1\tone');
  expect(words).toContain('please hurry');
  await system.client.publish(id);
  await published(system.client, id);
  expect(await git(path, 'show', `holdpoint/${id}:b.txt`)).toBe('two');
  expect(processes()).toBe(0);
});

test.each([
  ['that loads its session', ''],
  ['that cannot load one', '--no-load'],
])('an agent %s is ended while a call waits, and continues after a worker was killed', async (_, flags) => {
  const { id } = await begin([append('first'), append('second'), { say: 'Both.' }], hold, flags);
  const first = await nextApproval(system.client, id);
  expect(processes()).toBeGreaterThan(0);
  await until('the agent that waits is ended', () => processes() === 0, { withinMs: 20_000 });
  await approve(system.client, first);
  await until('the second call waits', async () => (await stepsOf(id)).includes('bash parked'));
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  const [second = first] = (await system.client.listApprovals({ run_id: id })).data;
  await approve(system.client, second, 'as you wish');
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await stepsOf(id)).toEqual(['bash succeeded', 'bash succeeded']);
  expect(await fileOf(id, 'made')).toBe('first\nsecond\n');
  expect(await wordsOf(id)).toMatch(
    flags === '' ? /resumed at 2 with: You were interrupted[\s\S]*as you wish/ : /You began this before/,
  );
});

test('a provider that is away is waited for: the agent continues from its session, and no call is made again', async () => {
  const needs = { path: '/v1/messages' };
  refusals.push(529, 503);
  const { id } = await begin([{ needs }, append('one'), { needs }, append('two')]);
  await until('the first call is made', async () => (await stepsOf(id)).includes('bash succeeded'));
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded' });
  expect(await stepsOf(id)).toEqual(['bash succeeded', 'bash succeeded']);
  expect(await fileOf(id, 'made')).toBe('one\ntwo\n');
  const { data } = await system.client.listEvents(id, { limit: 500 });
  const waits = data.filter(({ type }) => type === 'model.retrying');
  expect(waits.map(({ data }) => (data as { reason: { code: string } }).reason.code)).toEqual([
    'EMODELUNAVAILABLE',
    'EMODELUNAVAILABLE',
  ]);
});

test('a refused key pauses the run at once', async () => {
  refusals.push(401);
  const { id } = await begin([{ needs: { path: '/v1/messages' } }]);
  const run = await system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(run.reason).toMatchObject({ code: 'EAGENTFAILED', message: expect.stringContaining('401') });
});

test('a background command that ended and a limit that is nearly used are notices, once, with the next result', async () => {
  const { id } = await begin(
    [
      { call: 'bash', args: { command: 'echo done-behind', run_in_background: true } },
      { call: 'bash', args: { command: 'sleep 2; echo one' } },
      { call: 'bash', args: { command: 'echo two' } },
      { call: 'bash', args: { command: 'echo three' } },
      { call: 'bash', args: { command: 'echo four' } },
    ],
    { limits: { max_steps: 6 } },
  );
  expect((await finished(system.client, id)).status).toBe('succeeded');
  const words = await wordsOf(id);
  expect(words).toMatch(/\[bash: [^[]*one[^[]*\[Message to you, apart from the result\]\nNotices of Holdpoint/);
  expect(words.match(/background command task_\S+ "echo done-behind" completed with exit 0/g)).toHaveLength(1);
  expect(words.match(/5 of 6 calls/g)).toHaveLength(1);
});

test('a fork continues with the session of its moment', async () => {
  const { id } = await begin([append('first'), append('second'), append('third'), { say: 'All.' }]);
  await finished(system.client, id);
  const [first] = (await system.client.listSteps(id)).data;
  const { run: fork } = await system.client.forkRun(id, { from_step: first?.id ?? '' });
  expect(await finished(system.client, fork.id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await fileOf(fork.id, 'made')).toBe('first\nsecond\nthird\n');
  expect(await wordsOf(fork.id)).toContain('resumed at 1');
});

test('after an undo, an agent that is ahead of the log is started again', async () => {
  const rules = [{ match: { tool: 'write_file' }, action: 'hold' as const }];
  const write = { call: 'write_file', args: { path: 'b.txt', content: 'second' } };
  const { id } = await begin([append('first'), write, { say: 'Both.' }], { policy: { rules } });
  const { id: before } = await nextApproval(system.client, id);
  await system.client.pauseRun(id);
  await system.client.undoSteps(id, { to_step: 1, keep_external_effects: true });
  await system.client.resumeRun(id);
  const again = await nextApproval(system.client, id);
  expect(again.id).not.toBe(before);
  await approve(system.client, again);
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await stepsOf(id)).toEqual(['bash succeeded', 'write_file undone', 'write_file succeeded']);
  expect(await wordsOf(id)).toContain('resumed at 1');
});

test('a cancel ends the agent, whether it waits or works', async () => {
  const waiting = await begin([append('never')], hold);
  await nextApproval(system.client, waiting.id);
  await system.client.cancelRun(waiting.id);
  const working = await begin([{ call: 'read_file', args: { path: 'a.txt' } }, { hang: true }]);
  await until('it works', async () => (await stepsOf(working.id)).includes('read_file succeeded'));
  await system.client.cancelRun(working.id);
  for (const { id } of [waiting, working]) expect((await finished(system.client, id)).status).toBe('canceled');
  await until('no process of an agent is left', () => processes() === 0, { withinMs: 20_000 });
});

test('an agent that ends by itself pauses the run with its last words, and continues after a resume', async () => {
  const { id } = await begin([append('first'), { exit: 3 }, append('second'), { say: 'After all.' }]);
  const paused = await system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(paused.reason).toMatchObject({ code: 'EAGENTFAILED' });
  expect(paused.reason?.message).toContain('It ended with 3. Its last words: the last words of the agent');
  await system.client.resumeRun(id);
  // The session of the last turn does not know of the exit.
  await system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(await fileOf(id, 'made')).toBe('first\n');
});

test('an agent reaches its model and nothing else, and changes nothing but by a call', async () => {
  const before = model.asked.length;
  const api = new URL(system.api.url());
  const { id } = await begin([
    {
      shell:
        'echo changed > /workspace/a.txt; echo new > /workspace/.git/config; rm -rf /workspace/a.txt; cat /workspace/a.txt',
    },
    {
      shell: `env | grep -c 'canary-key-of-the-provide[r]'; grep -rl 'canary-key-of-the-provide[r]' /proc/*/environ /tmp 2>/dev/null | wc -l`,
    },
    { shell: `exec 3<>/dev/tcp/127.0.0.1/${api.port} && echo reached the API` },
    { shell: `exec 3<>/dev/tcp/127.0.0.1/${new URL(model.url).port} && echo reached the host` },
    { shell: 'exec 3<>/dev/tcp/1.1.1.1/443 && echo reached the internet' },
    { model: { path: '/v1/messages' } },
    { model: { path: '/v1/messages', name: 'claude-opus-4-1' } },
    { model: { path: '/v1/files' } },
    { model: { path: '/v1/messages/batches' } },
    { model: { path: '/v1/messages/../files' } },
    { call: 'no_such_tool' },
    { raw: 'no json' },
    { raw: '{"jsonrpc":"2.0","id":900,"method":"sampling/createMessage","params":{}}' },
    { call: 'bash', args: { command: 1 } },
    { call: 'read_file', args: { path: '../../etc/passwd' } },
    { say: 'That is all.' },
  ]);
  const end = await finished(system.client, id);
  expect(end).toMatchObject({ status: 'succeeded', reason: null });
  const words = await wordsOf(id);
  expect(words).toMatch(/0 one\n[\s\S]*Read-only file system/);
  expect(words).toMatch(/\[shell: \d 0\n0\]/);
  expect(words).not.toContain('reached');
  expect(words).toContain('[model: 200 event: message_start');
  expect(words).toContain(
    '403 {"type":"error","error":{"type":"permission_error","message":"This run asks claude-sonnet-4-5, not claude-opus-4-1."',
  );
  expect(words.match(/\[model: 403 \{"type":"error","error":\{"message":"Only requests to the model/g)).toHaveLength(3);
  expect(words).toContain('There is no tool no_such_tool.');
  expect(await stepsOf(id)).toEqual(['bash failed', 'read_file failed']);
  expect(await fileOf(id, 'a.txt')).toBe('one\n');
  expect(end.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  const asked = model.asked.slice(before);
  expect(asked.map(({ path }) => path)).toEqual(['/v1/messages']);
  expect(asked[0]?.headers['x-api-key']).toBe(key);
  expect(await placesWith(system, [key])).toEqual([]);
});

test('floods: a session too large is retold, a line without end ends the agent, and the worker stays', async () => {
  const large = await begin([{ fill: 60_000_000 }, append('first'), append('second'), { say: 'Enough.' }], hold);
  await approve(system.client, await nextApproval(system.client, large.id));
  await until('the second call waits', async () => (await stepsOf(large.id)).includes('bash parked'));
  await approve(system.client, await nextApproval(system.client, large.id));
  expect(await finished(system.client, large.id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await fileOf(large.id, 'made')).toBe('first\nsecond\n');
  const bomb = await begin([
    { shell: ':(){ :|:& };:; sleep 1' },
    { line: 50_000_000 },
    append('after'),
    { say: 'Alive.' },
  ]);
  await system.client.waitForRun(bomb.id, { until: ({ status }) => status !== 'running' && status !== 'queued' });
  const { status } = await system.client.getRun(bomb.id);
  expect(['paused', 'succeeded']).toContain(status);
  if (status === 'paused') await system.client.cancelRun(bomb.id);
  expect(worker.isAlive()).toBe(true);
  await until('no process of an agent is left', () => processes() === 0, { withinMs: 20_000 });
});

test('a call with the value of a secret does not run, and the value stays nowhere', async () => {
  const { id } = await begin(
    [
      { call: 'bash', args: { command: 'echo "$TOKEN" | tr a-z A-Z; echo "$TOKEN"' } },
      { call: 'bash', parts: ['echo canary-', 'secret-value > made'] },
      { say: 'Done.' },
    ],
    { secrets: [{ name: 'TOKEN', as: { env: 'TOKEN' } }] },
  );
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await stepsOf(id)).toEqual(['bash succeeded', 'bash failed']);
  expect(await wordsOf(id)).toMatch(/CANARY-SECRET-VALUE[\s\S]*\[secret TOKEN\][\s\S]*ESECRETINARGS/);
  expect(await placesWith(system, ['canary-secret-value'])).toEqual([]);
});

test('killed workers at any moment: every call is made once, in order', async () => {
  const marks = Array.from({ length: 8 }, (_, at) => `m${at}`);
  const { id } = await begin([...marks.map((mark) => ({ ...append(mark), wait: 100 })), { say: 'All made.' }]);
  for (const ms of [150, 700, 300, 1100]) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
  }
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await fileOf(id, 'made')).toBe(marks.map((mark) => `${mark}\n`).join(''));
});

test('another model is of a provider that the agent asks, at a resume and in a fork', async () => {
  const created = await system.client.createRun({
    prompt: 'Do it',
    outside_agent: 'claude-code',
    model: 'anthropic/claude-sonnet-4-5',
  });
  const { id } = created.run;
  const paused = await system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(paused.reason).toMatchObject({ code: 'EAGENTMISSING' });
  expect(paused.reason?.next).toContain('npm install --global --prefix DIR @anthropic-ai/claude-code');
  const other = { model: 'openai/gpt-5.2' };
  const refusal = { code: 'invalid_model_name', status: 422 };
  await expect(system.client.resumeRun(id, other)).rejects.toMatchObject(refusal);
  await expect(system.client.forkRun(id, { from_step: 0, ...other })).rejects.toMatchObject(refusal);
  await system.client.cancelRun(id);
});

test('an agent in a flood of calls is ended, and the calls above the bound are made at no time', async () => {
  const { id } = await begin([{ flood: 50_000 }, { say: 'Started again.' }]);
  const isOver = ({ status }: { status: string }) => status === 'succeeded' || status === 'paused';
  const { status } = await system.client.waitForRun(id, { until: isOver });
  // A flood within its first turn fails it; a later one ends the process, and its session continues behind the flood.
  expect((await stepsOf(id)).length).toBeLessThanOrEqual(64);
  if (status === 'paused') await system.client.cancelRun(id);
  expect(worker.isAlive()).toBe(true);
  await until('no process of an agent is left', () => processes() === 0, { withinMs: 20_000 });
});

test('while a call waits, the agent asks no model: no turn would count the tokens', async () => {
  const before = model.asked.length;
  const { id } = await begin([{ ...append('first'), also: { path: '/v1/messages' } }, { say: 'Done.' }], hold);
  const approval = await nextApproval(system.client, id);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await approve(system.client, approval);
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  expect(await wordsOf(id)).toContain('The agent waits for its calls, and asks no model until they have ended.');
  expect(model.asked.length).toBe(before);
});

test('a limit of tokens holds within a turn', async () => {
  const before = model.asked.length;
  const asks = Array.from({ length: 10 }, () => ({ model: { path: '/v1/messages' } }));
  const { id } = await begin([...asks, { exit: 1 }], { limits: { max_tokens: 40 } });
  const paused = await system.client.waitForRun(id, { until: ({ status }) => status === 'paused' });
  expect(paused.reason?.message).toContain('The run has used its limit max_tokens (40).');
  expect(model.asked.length - before).toBe(3);
  expect((await system.client.getRun(id)).usage).toMatchObject({ input_tokens: 30, output_tokens: 15 });
});

test('where reads are restricted, the agent sees no files but by our tools', async () => {
  const { id } = await begin(
    [{ shell: 'ls -A /workspace | wc -l' }, { call: 'read_file', args: { path: 'a.txt' } }, { say: 'Seen.' }],
    { permissions: ['fs:read:a.txt'] },
  );
  expect(await finished(system.client, id)).toMatchObject({ status: 'succeeded', reason: null });
  const words = await wordsOf(id);
  expect(words).toContain('[shell: 0 0]');
  expect(words).toContain('1\tone');
});

test('what an agent cannot be asked is refused with the field', async () => {
  const refused = (more: object) =>
    system.client
      .createRun({ prompt: 'Do it', outside_agent: 'claude-code', model: 'anthropic/claude-sonnet-4-5', ...more })
      .catch(({ status, code, errors }: { status: number; code: string; errors: { pointer: string }[] }) => ({
        status,
        code,
        pointer: errors[0]?.pointer,
      }));
  expect(await refused({ outside_agent: 'no-agent' })).toMatchObject({ status: 422, pointer: '/outside_agent' });
  expect(await refused({ outside_agent: 'acp: ' })).toMatchObject({ status: 422, pointer: '/outside_agent' });
  expect(await refused({ outside_agent: 'codex' })).toEqual({
    status: 422,
    code: 'invalid_model_name',
    pointer: '/model',
  });
  expect(await refused({ model: undefined })).toEqual({ status: 422, code: 'model_not_configured', pointer: '/model' });
  expect(await refused({ fallbacks: ['anthropic/claude-opus-4-1'] })).toMatchObject({
    status: 422,
    pointer: '/fallbacks',
  });
  expect(await refused({ prompt: undefined, open: true })).toMatchObject({ status: 422, pointer: '/model' });
});
