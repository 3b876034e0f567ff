import type { SendCalls } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAt, type ModelServer, openModelServer, readiness, until, useSystem } from '../harness/index.ts';

let models: ModelServer;
beforeAll(async () => {
  // A prompt is a word to write in capitals. The second answer is the end.
  models = await openModelServer(({ prompt, results }) => {
    if (results.length > 0) return { text: `done ${prompt}` };
    const args = { file_path: 'a.txt', old_string: prompt, new_string: prompt.toUpperCase() };
    return { calls: [{ tool: 'edit', args }] };
  });
});
afterAll(() => models[Symbol.asyncDispose]());
const system = useSystem({
  env: () => ({ HOLDPOINT_MODEL: 'openai-compatible/fake', OPENAI_COMPATIBLE_BASE_URL: `${models.url}/v1` }),
});
const { client } = system;
const words = ['one', 'two', 'three'];

/** Retries while Redis is away: the key makes sure that there are no second calls. */
async function settled(runId: string, calls: SendCalls['calls']) {
  let results: unknown[] | undefined;
  await until('the calls are settled', async () => {
    const sent = await client
      .sendCalls(runId, { calls }, { idempotencyKey: `${runId} ${calls.length}` })
      .catch(() => undefined);
    results = sent?.settled ? sent.steps.map(({ result }) => result) : undefined;
    return results !== undefined;
  });
  return results;
}

test.each([
  ['begins', 'task.started'],
  ['uses its model', 'task.used'],
  ['ends', 'task.exited'],
  ['merges', 'workspace.held'],
  ['has merged', 'task.ended'],
])('kill -9 of Redis when a sub-agent %s: each change is in the run once', async (_, text) => {
  const path = await system.directoryWith({ 'a.txt': words.map((word) => `${word}\n\n\n\n`).join('') });
  const { run } = await client.createRun({
    ...{ open: true, toolset: 'clemini', workspace: { source: { type: 'directory', path } } },
  });
  const calls = words.map((prompt) => ({ tool: 'task', args: { prompt } }));
  const isKilled = await killAt(system, { runId: run.id, text, pid: system.redis.pid() });
  await client.sendCalls(run.id, { calls }, { idempotencyKey: `${run.id} ${calls.length}` });
  await isKilled();
  await until('Redis is gone', () => !system.redis.isAlive());
  await system.redis.start();
  await until('the API is ready', async () => (await readiness(client)) !== 'unavailable');

  expect(await settled(run.id, calls)).toEqual(
    words.map((word) => ({ status: 'success', stdout: `done ${word}`, stderr: '', exit_code: 0 })),
  );
  const [read] = (await settled(run.id, [{ tool: 'read_file', args: { file_path: 'a.txt' } }])) as {
    contents: string;
  }[];
  expect(read?.contents.match(/\w+$/gm)).toEqual(['ONE', 'TWO', 'THREE']);
  const { data } = await client.listEvents(run.id, { limit: 1000 });
  expect(data.map(({ seq }) => seq)).toEqual(data.map((_, index) => index + 1));
  const ends = data.flatMap((event) => (event.type === 'task.ended' ? [event.data] : []));
  expect(new Set(ends.map(({ task_id }) => task_id)).size).toBe(words.length);
  expect(ends).toEqual(words.map(() => expect.objectContaining({ merged: { paths: ['a.txt'], total: 1 } })));
});
