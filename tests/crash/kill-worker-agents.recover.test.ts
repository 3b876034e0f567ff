import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  killAt,
  type ModelServer,
  openModelServer,
  processesWith,
  readiness,
  until,
  useSystem,
} from '../harness/index.ts';

const preload = new URL('kill-at-point.ts', import.meta.url).href;
let models: ModelServer;
beforeAll(async () => {
  // A prompt is a word, and what to write in its place. The second answer is the end.
  models = await openModelServer(({ prompt, results }) => {
    const [old_string = '', new_string = ''] = prompt.split(' ');
    if (results.length > 0) return { text: `done ${new_string}` };
    return { calls: [{ tool: 'edit', args: { file_path: 'a.txt', old_string, new_string } }] };
  });
});
afterAll(() => models[Symbol.asyncDispose]());
const system = useSystem({
  workers: 0,
  env: () => ({ HOLDPOINT_MODEL: 'openai-compatible/fake', OPENAI_COMPATIBLE_BASE_URL: `${models.url}/v1` }),
});
const { client } = system;
/** The second and the third change the same line, so one of them merges and the other one cannot. */
const prompts = ['one ONE', 'two TWO', 'two ZWEI'];

async function begin(): Promise<string> {
  const path = await system.directoryWith({ 'a.txt': 'one\n\n\n\ntwo\n\n\n\nthree\n' });
  const { run } = await client.createRun({
    ...{ open: true, toolset: 'clemini', workspace: { source: { type: 'directory', path } } },
  });
  return run.id;
}

const send = (runId: string) => {
  const calls = prompts.map((prompt) => ({ tool: 'task', args: { prompt } }));
  return client.sendCalls(runId, { calls }, { idempotencyKey: runId }).catch(() => undefined);
};

/** The changes are in the run once, the conflict is reported once, and nothing of the merges remains. */
async function expectMerged(runId: string): Promise<void> {
  let ends: { task_id: string; status: string; reason?: { code: string } | undefined }[] = [];
  await until(
    'all sub-agents have ended',
    async () => {
      const sent = await send(runId);
      const { data } = await client.listEvents(runId, { limit: 1000 });
      ends = data.flatMap((event) => (event.type === 'task.ended' ? [event.data] : []));
      return sent?.settled === true;
    },
    { withinMs: 100_000 },
  );
  expect(ends.map(({ status, reason }) => reason?.code ?? status).sort()).toEqual([
    ...['ECONFLICT', 'completed', 'completed'],
  ]);
  expect(new Set(ends.map(({ task_id }) => task_id)).size).toBe(prompts.length);
  const chunks: Uint8Array[] = [];
  for await (const chunk of await client.readFile(runId, { path: 'a.txt' })) chunks.push(chunk);
  const words = Buffer.concat(chunks).toString().match(/\w+/g);
  expect(words).toEqual(['ONE', expect.stringMatching(/^(TWO|ZWEI)$/), 'three']);
  const { data } = await client.listEvents(runId, { limit: 1000 });
  expect(data.map(({ seq }) => seq)).toEqual(data.map((_, index) => index + 1));
  const run = await client.finishRun(runId, {});
  expect(run.open_tasks).toBe(0);
  await until('the run has ended', async () => (await client.getRun(runId)).status === 'succeeded');
  for (const task of await client.listTasks(runId)) {
    const child = task.run_id ?? '';
    expect(existsSync(join(system.folder(child), 'retired')), `retired trees of ${child}`).toBe(false);
  }
  await until('no put aside tree and no process of the run is left', async () => {
    const folder = system.folder(runId);
    const trees = readdirSync(join(folder, 'trees')).filter((name) => /^\d+$/.test(name));
    const isTidy = trees.length <= 1 && !existsSync(join(folder, 'retired'));
    return isTidy && (await processesWith(folder)).length === 0;
  });
}

const countFile = (point: number): string => join(system.directory, `points-${point}`);
const startCounted = (point: number): Promise<AppProcess> => {
  const env = { KILL_FROM: 'workspace.held', KILL_TO: 'task.ended', KILL_COUNT: countFile(point) };
  return system.startWorker({ ...env, KILL_POINT: String(point) }, preload);
};

/** How many points are tried, from the first merge to the last. */
const tried = 3;

test('kill -9 of the worker at points of a merge: each change is in the run once, and the conflict is reported once', async () => {
  const whole = await startCounted(0);
  const first = await begin();
  await send(first);
  await expectMerged(first);
  await whole.signal('SIGKILL');
  const points = statSync(countFile(0)).size;
  // Commands to Redis alone are more.
  expect(points).toBeGreaterThan(5);
  for (let trial = 1; trial <= tried; trial++) {
    const point = Math.max(1, Math.round((points * trial) / tried));
    const worker = await startCounted(point);
    const runId = await begin();
    await send(runId);
    // Another interleaving may have fewer points.
    await until(
      'the worker is killed, or has merged',
      async () => {
        if (!worker.isAlive()) return true;
        const { data } = await client.listEvents(runId, { limit: 1000 });
        return data.filter(({ type }) => type === 'task.ended').length === prompts.length;
      },
      { withinMs: 60_000 },
    );
    const next = await system.startWorker();
    await expectMerged(runId).catch((error: Error) => {
      error.message = `killed at point ${point} of ${points}: ${error.message}`;
      throw error;
    });
    for (const one of [worker, next]) if (one.isAlive()) await one.signal('SIGKILL');
  }
}, 600_000);

test.each([
  ['merges', 'workspace.held'],
  ['has merged', 'task.ended'],
])('kill -9 of the API when a sub-agent %s', async (_, text) => {
  const worker = await system.startWorker();
  const runId = await begin();
  const isKilled = await killAt(system, { runId, text, pid: system.api.pid() });
  void send(runId);
  await isKilled();
  await until('the API is gone', () => !system.api.isAlive());
  await system.api.start();
  await until('the API is ready', async () => (await readiness(client)) !== 'unavailable');
  await expectMerged(runId);
  await worker.signal('SIGKILL');
});
