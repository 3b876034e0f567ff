import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attribute, genAi } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { approve, finished, nextApproval, until, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem({ workers: 0 });
const { client } = system;

const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });

test('a prompt becomes turns of tool calls and ends with the model’s message', async () => {
  const worker = await system.startWorker();
  mock.on(
    { userMessage: 'write a haiku', hasToolResult: false },
    {
      content: 'I write two files.',
      toolCalls: [
        call('call_a', 'write_file', { path: 'haiku.txt', content: 'old pond\n' }),
        call('call_b', 'read_file', { path: 'missing.txt' }),
        call('call_c', 'no_such_tool', {}),
      ],
    },
  );
  mock.on({ userMessage: 'write a haiku', hasToolResult: true }, { content: 'The haiku is in haiku.txt.' });

  const { run } = await client.createRun({
    prompt: 'Please write a haiku.',
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
  });
  const approval = await nextApproval(client, run.id);
  expect(approval).toMatchObject({ action: { tool: 'write_file' }, preview: { kind: 'diff', path: 'haiku.txt' } });
  await approve(client, approval);

  expect(await finished(client, run.id)).toMatchObject({
    status: 'succeeded',
    model: 'anthropic/claude-test',
    message: 'The haiku is in haiku.txt.',
    turn: 2,
  });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map((step) => [step.tool, step.status, step.error?.code])).toEqual([
    ['write_file', 'succeeded', undefined],
    ['read_file', 'failed', 'ENOENT'],
    ['no_such_tool', 'failed', 'EUNKNOWNTOOL'],
  ]);
  expect(await readFile(join(system.tree(run.id), 'haiku.txt'), 'utf8')).toBe('old pond\n');

  const { spans } = await client.readTrace(run.id);
  expect(spans.filter(({ end }) => end === null)).toEqual([]);
  expect(
    spans.filter(({ kind }) => kind === 'turn').map(({ name, attributes: of }) => ({ name, ...of })),
  ).toMatchObject([
    {
      name: 'chat claude-test',
      [genAi.provider]: 'anthropic',
      [genAi.finishReasons]: ['tool_calls'],
      [genAi.inputTokens]: expect.any(Number),
      [genAi.responseModel]: expect.any(String),
      [attribute.turnCalls]: 3,
    },
    { name: 'chat claude-test', [genAi.finishReasons]: ['stop'], [attribute.turnCalls]: 0 },
  ]);
  const calls = spans.filter(({ kind }) => kind === 'step');
  expect(calls.map(({ name, message }) => [name, message]).sort()).toEqual([
    ['execute_tool no_such_tool', 'EUNKNOWNTOOL'],
    ['execute_tool read_file', 'ENOENT'],
    ['execute_tool write_file', undefined],
  ]);
  expect(spans.find(({ name }) => name === 'wait approval')?.parent_id).toBe(
    calls.find(({ name }) => name.endsWith('write_file'))?.span_id,
  );
  expect(JSON.stringify(spans)).not.toMatch(/haiku|old pond|missing/);
  await worker.signal('SIGTERM');
});

test('a long output shows its ends and its first failure, and the model reads the rest in a file of its run', async () => {
  const worker = await system.startWorker();
  const printed = 'seq 1 9000; echo "not ok 9001 - total"; echo "  expected 4, got 3"; seq 9002 30000';
  const whole = execFileSync('bash', ['-c', printed], { encoding: 'utf8' }).trimEnd();
  const path = `/holdpoint/outputs/bash-${createHash('sha256').update(whole).digest('hex').slice(0, 12)}.txt`;
  mock.on(
    { userMessage: 'long output', hasToolResult: false },
    { toolCalls: [call('call_long', 'bash', { command: printed })] },
  );
  mock.on(
    { userMessage: 'long output', toolCallId: 'call_long' },
    {
      toolCalls: [
        call('call_read', 'read_file', { path, offset: 9001, limit: 2 }),
        call('call_grep', 'grep', { path, pattern: '^1234[56]$' }),
        call('call_tail', 'bash', { command: `tail -n 1 ${path}; echo >> ${path}` }),
        call('call_write', 'write_file', { path, content: 'mine' }),
      ],
    },
  );
  mock.on({ userMessage: 'long output', toolCallId: 'call_write' }, { content: 'Read.' });
  const { run } = await client.createRun({ prompt: 'Please look at the long output.' });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', message: 'Read.' });
  expect((await client.diff(run.id)).files).toEqual([]);
  const requests = mock.getRequests().map(({ body }) => JSON.stringify(body));
  const second = requests.find((text) => text.includes('call_long') && !text.includes('call_read')) ?? '';
  const shows = (request: string, text: string) => expect([text, request.includes(text)]).toEqual([text, true]);
  shows(second, `among them the first failures. All of it is in ${path}`);
  shows(second, 'not ok 9001 - total\\n  expected 4, got 3');
  expect(second.length).toBeLessThan(80_000);
  const third = requests.find((text) => text.includes('call_write')) ?? '';
  shows(third, '9001\\tnot ok 9001 - total\\n9002\\t  expected 4, got 3');
  shows(third, '12346:12345\\n12347:12346');
  expect(/exit 1; the last line is stderr\\n30000\\n[^"]*(Read-only|denied)/.test(third)).toBe(true);
  shows(third, 'error EOUTSIDE');
  await worker.signal('SIGTERM');
});

test('a recorded answer is never requested again when the worker is killed', async () => {
  const first = await system.startWorker();
  const hold = 'echo once >> counter; touch started; until [ -e go ]; do sleep 0.02; done';
  mock.on(
    { userMessage: 'count once', hasToolResult: false },
    { content: 'Counting.', toolCalls: [call('call_d', 'bash', { command: hold })] },
  );
  mock.on({ userMessage: 'count once', hasToolResult: true }, { content: 'Counted.' });
  const asked = () => mock.getRequests().filter((entry) => JSON.stringify(entry.body).includes('count once')).length;

  const { run } = await client.createRun({ prompt: 'Please count once.' });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started')));
  await first.signal('SIGKILL');
  const second = await system.startWorker();
  await until('attempt 2 runs', async () => (await client.listSteps(run.id)).data[0]?.attempts === 2);
  await client.cancelRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'canceled' });
  expect(asked()).toBe(1);
  const { spans } = await client.readTrace(run.id);
  expect(spans.filter(({ end }) => end === null)).toEqual([]);
  const attempts = spans.filter(({ kind }) => kind === 'attempt');
  expect(attempts.map(({ status, attributes: of }) => [status, of[attribute.attemptOutcome]])).toEqual([
    ['error', 'lost'],
    ['error', 'killed'],
  ]);
  expect(new Set(attempts.map(({ attributes: of }) => of[attribute.worker])).size).toBe(2);
  expect(spans.filter(({ name }) => name === 'workspace take_over').length).toBeGreaterThanOrEqual(1);
  await second.signal('SIGTERM');
});

test('an image that the model reads is kept beside the log, and given out as an image alone', async () => {
  const worker = await system.startWorker();
  const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const draw = `echo '${base64}' | base64 -d > dot.png; echo '<script>alert(1)</script>' >> dot.png`;
  mock.on(
    { userMessage: 'look at the dot', hasToolResult: false },
    {
      content: 'Looking.',
      toolCalls: [
        call('call_e', 'bash', { command: draw }),
        call('call_f', 'read_file', { path: 'dot.png' }),
        call('call_g', 'read_file', { path: 'missing.png' }),
      ],
    },
  );
  mock.on({ userMessage: 'look at the dot', hasToolResult: true }, { content: 'It is grey.' });
  const { run } = await client.createRun({ prompt: 'Please look at the dot.' });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', message: 'It is grey.' });
  const [, step, missing] = (await client.listSteps(run.id)).data;
  const { result } = await client.getStep(step?.id ?? '');
  expect(result).toMatchObject({ path: 'dot.png', image: { media_type: 'image/png', width: 1, height: 1 } });
  const bytes = await Array.fromAsync(await client.getStepImage(step?.id ?? ''));
  expect(Buffer.concat(bytes)).toEqual(await readFile(join(system.tree(run.id), 'dot.png')));
  await expect(client.getStepImage(missing?.id ?? '')).rejects.toMatchObject({ code: 'image_not_found', status: 404 });
  const response = await fetch(`${system.api.url()}/v1/steps/${step?.id}/image`, {
    headers: { authorization: `Bearer ${system.key}` },
  });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
  });
  const events = (await client.listEvents(run.id)).data.filter(({ type }) => type === 'step.succeeded');
  expect(JSON.stringify(events)).not.toContain(base64.slice(0, 40));
  expect(events.at(-1)?.data).toMatchObject({ contents: [{ bytes: Buffer.concat(bytes).length }] });
  await worker.signal('SIGTERM');
});

test('a provider that rejects the key pauses the run with its reason', async () => {
  const worker = await system.startWorker();
  mock.on(
    { userMessage: 'locked out' },
    { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 },
  );
  const { run } = await client.createRun({ prompt: 'Am I locked out?' });
  const paused = await client.waitForRun(run.id, { until: (now) => now.status === 'paused' });
  expect(paused).toMatchObject({ status: 'paused', reason: { code: 'EMODELAUTH' } });
  await client.cancelRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'canceled' });
  await worker.signal('SIGTERM');
});

test('the model reads where its repository stands, and a person reads the same text', async () => {
  const worker = await system.startWorker();
  const uses = Array.from({ length: 5 }, (_, n) => [
    `src/use${n}.ts`,
    `import { area } from './area.ts';\narea(${n});\n`,
  ]);
  const files = { 'src/area.ts': 'export function area(a: number) {\n  return a;\n}\n', ...Object.fromEntries(uses) };
  const path = await system.directoryWith(files);
  mock.on({ userMessage: 'read the map' }, { content: 'Read.' });
  const { run } = await client.createRun({
    prompt: 'read the map',
    workspace: { source: { type: 'directory', path } },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const { system: text, environment } = await client.readInstructions(run.id);
  expect(text).toMatch(/^src\/ 6 files$/m);
  expect(text).toContain('# Git\nThe workspace is a git repository of its own');
  // A busy machine may take longer than the graph has.
  const hasMap = text?.includes('src/area.ts: area (function, 1)');
  expect(environment.repo_map).toMatchObject(hasMap ? { symbols: 1 } : { absent: 'ETIMEOUT' });
  await worker.signal('SIGTERM');
});
