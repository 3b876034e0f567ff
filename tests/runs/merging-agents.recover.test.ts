import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SendCalls } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppProcess, type ModelServer, openModelServer, until, useSystem } from '../harness/index.ts';

let models: ModelServer;
let pages: Server;
let worker: AppProcess;
beforeAll(async () => {
  // A prompt names an edit: file, old text, new text. The second answer is the end.
  models = await openModelServer(({ prompt, results }) => {
    const [file_path, old_string, new_string] = prompt.split(' ');
    if (prompt === 'Summary?' || prompt.startsWith('What is asked')) return { text: 'A page.' };
    if (results.length > 0) return { text: `done ${new_string}` };
    return { calls: [{ tool: 'edit', args: { file_path, old_string, new_string } }] };
  });
  pages = createServer((_, response) => void response.setHeader('content-type', 'text/plain').end('Words.'));
  await new Promise<void>((ready) => pages.listen(0, '127.0.0.1', ready));
});
afterAll(async () => {
  await models[Symbol.asyncDispose]();
  await new Promise((closed) => pages.close(closed));
});
const system = useSystem({
  workers: 0,
  env: () => ({
    HOLDPOINT_MODEL: 'openai-compatible/fake',
    OPENAI_COMPATIBLE_BASE_URL: `${models.url}/v1`,
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8',
  }),
});
const { client } = system;
beforeAll(async () => {
  worker = await system.startWorker();
});
const lines = (...words: string[]) => words.map((word) => `${word}\n\n\n\n`).join('');
const task = (prompt: string) => ({ tool: 'task', args: { prompt } });
const newRun = async (files: Record<string, string>, allow: string[] = []) => {
  const path = await system.directoryWith(files);
  const { run } = await client.createRun({
    ...{ open: true, toolset: 'clemini', network: { allow }, workspace: { source: { type: 'directory', path } } },
  });
  return run.id;
};
const send = (runId: string, calls: SendCalls['calls']) =>
  client.sendCalls(runId, { calls }, { idempotencyKey: `${runId} ${calls.length}` });
/** A step whose worker died waits 18 s, and a merge whose worker died 31 s; then they are made again. */
const recoveryMs = 90_000;
async function results(runId: string, calls: SendCalls['calls']) {
  let received = await send(runId, calls);
  const isSettled = async (): Promise<boolean> => {
    received = await client.getCalls(runId, received.number, { waitS: 5 });
    return received.settled;
  };
  await until('the calls are settled', isSettled, { withinMs: recoveryMs });
  return received.steps.map(({ result }) => result);
}

test('kill -9 of worker and API while sub-agents merge: each change is in the run once', async () => {
  const runId = await newRun({ 'a.txt': lines('one', 'two', 'three') });
  const calls = ['one', 'two', 'three'].map((word) => task(`a.txt ${word} ${word.toUpperCase()}`));
  await send(runId, calls);
  await until('the first of them has ended', async () =>
    (await client.listEvents(runId, { limit: 1000 })).data.some(({ type }) => type === 'task.exited'),
  );
  await worker.signal('SIGKILL');
  await system.api.kill();
  await system.api.start();
  worker = await system.startWorker();
  expect(await results(runId, calls)).toEqual(
    ['ONE', 'TWO', 'THREE'].map((word) => ({ status: 'success', stdout: `done ${word}`, stderr: '', exit_code: 0 })),
  );
  expect(await results(runId, [{ tool: 'read_file', args: { file_path: 'a.txt' } }])).toMatchObject([
    { contents: expect.stringMatching(/: ONE\n(.*\n)+.*: TWO\n(.*\n)+.*: THREE\n/) },
  ]);
});

test('two that change the same line: one is merged, the other failed with the file, and nothing waits', async () => {
  const runId = await newRun({ 'a.txt': lines('one') });
  const settled = await results(runId, [task('a.txt one left'), task('a.txt one right')]);
  // They merge in the order of the calls, so the second is the one that conflicts.
  expect(settled.map((result) => (result as { status: string }).status)).toEqual(['success', 'failed']);
  expect(settled).toContainEqual(
    expect.objectContaining({ status: 'failed', exit_code: 1, stderr: expect.stringContaining('a.txt') }),
  );
  const merges = (await client.listTasks(runId)).map(({ status, merged }) => [status, merged]);
  expect(merges).toHaveLength(2);
  expect(merges).toContainEqual(['completed', { paths: ['a.txt'], total: 1 }]);
  expect(merges).toContainEqual(['failed', { conflicts: [expect.objectContaining({ path: 'a.txt' })], total: 1 }]);
});

test('what a model used for a tool counts for the run', async () => {
  const host = `127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const runId = await newRun({}, [host]);
  const before = models.tokens();
  const [result] = await results(runId, [{ tool: 'web_fetch', args: { url: `http://${host}/`, prompt: 'Summary?' } }]);
  expect(result).toEqual({ processed_content: 'A page.' });
  const { usage } = await client.getRun(runId);
  expect(usage.input_tokens + usage.output_tokens).toBe(models.tokens() - before);
  expect(models.tokens()).toBeGreaterThan(before);
});
