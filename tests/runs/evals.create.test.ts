import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PutEval } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  approve,
  finished,
  type ModelServer,
  nextApproval,
  openModelServer,
  until,
  useSystem,
} from '../harness/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'hp-evals-'));
const sent: string[] = [];
let site: Server;
let models: ModelServer;

/** What each model writes, and how it ends. `good` solves the task, `bad` does not, `long` never ends. */
const content: Record<string, string> = { first: 'right', good: 'right', bad: 'wrong' };

beforeAll(async () => {
  site = createServer((request, response) => {
    sent.push(request.url ?? '');
    response.end('ok');
  });
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  models = await openModelServer(({ model, results }) => {
    const at = results.length;
    if (model === 'long') return { calls: [{ tool: 'bash', args: { command: `echo ${at}` } }], text: `Turn ${at}.` };
    if (at === 0) return { calls: [{ tool: 'send', args: { to: 'all' } }] };
    if (at === 1) return { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: `${content[model]}\n` } }] };
    return { text: `Done as ${model}.` };
  });
  const { port } = site.address() as AddressInfo;
  writeFileSync(
    join(directory, 'send.mjs'),
    `const execute = async () => ({ status: 'succeeded', value: (await fetch('http://127.0.0.1:${port}/send')).status });
     export const more = { addsTo: 'holdpoint', tools: [{ name: 'send', description: 'Sends.', effect: 'external', risk: 'low',
       input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }, execute }] };`,
  );
});
afterAll(async () => {
  await models[Symbol.asyncDispose]();
  site.close();
  rmSync(directory, { recursive: true, force: true });
});

const price = { input: 10, output: 20 };
const system = useSystem({
  env: () => ({
    ...{ HOLDPOINT_TOOLS: join(directory, 'send.mjs'), HOLDPOINT_MODEL: 'openai-compatible/first' },
    ...{ OPENAI_COMPATIBLE_BASE_URL: `${models.url}/v1`, OPENAI_COMPATIBLE_API_KEY: 'no-secret' },
    HOLDPOINT_MODELS: JSON.stringify({ 'openai-compatible/*': { prices: price } }),
  }),
});
const { client } = system;
const modelOf = (name: string): string => `openai-compatible/${name}`;
const evalId = (): string => `eval_${randomUUIDv7()}`;

/** A run of a person that wrote the right file and sent something. */
async function markedRun(validators: { name: string; command: string }[] = right): Promise<string> {
  const path = await system.repositoryWith({ 'a.txt': 'before\n' });
  const { run } = await client.createRun({
    ...{ prompt: 'Make a.txt right.', title: 'Right', workspace: { source: { type: 'git', path } }, validators },
    policy: { rules: [{ match: { effect: 'external' }, action: 'hold', expires_s: 3600, on_expiry: 'allow' }] },
  });
  await approve(client, await nextApproval(client, run.id));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  await client.markRun(run.id, { mark: 'good', note: 'as wanted' });
  return run.id;
}
const right = [{ name: 'right', command: 'grep -qx right a.txt' }];

const ended = async (id: string) => {
  await until('the end', async () => (await client.getEval(id)).ended_at !== null, { withinMs: 120_000 });
  return client.getEval(id);
};
const setOf = (runs: string[], more: Partial<PutEval> = {}): PutEval => ({
  ...{ name: 'files', runs, models: [modelOf('good'), modelOf('bad')], budget: { max_cost_usd: 1 } },
  ...more,
});

test('a marked run is repeated with two models; validators decide, external effects are held and never sent', async () => {
  sent.length = 0;
  const original = await markedRun();
  expect(sent).toEqual(['/send']);
  const id = evalId();
  const set = setOf([original]);
  const { evaluation, created } = await client.putEval(id, set);
  expect([created, evaluation.status]).toEqual([true, 'running']);
  expect((await client.putEval(id, set)).created).toBe(false);
  const done = await ended(id);
  expect(done.originals).toMatchObject([{ run_id: original, mark: 'good', note: 'as wanted', holds: 1 }]);
  expect(done.repeats).toMatchObject([
    { of: original, model: modelOf('good'), status: 'done', outcome: 'passed', holds: 1, steps: 2, turns: 3 },
    { of: original, model: modelOf('bad'), status: 'done', outcome: 'failed', holds: 1 },
  ]);
  expect(done.repeats[1]?.reason).toContain('the validator right');
  expect(done.spent.cost_usd).toBeCloseTo(done.repeats.reduce((all, one) => all + one.cost_usd, 0));
  expect(done.spent.cost_usd).toBeGreaterThan(0);
  expect(sent).toEqual(['/send']);
  for (const { run_id: fork = '' } of done.repeats) {
    expect(await client.getRun(fork)).toMatchObject({ forked_from: { run_id: original }, dry_run: true });
    await expect(client.publish(fork)).rejects.toMatchObject({ code: 'dry_run' });
  }
  expect(await client.getRun(original)).toMatchObject({ publication: { status: 'none' }, mark: { mark: 'good' } });
});

test('one budget bounds all repeats: the one that reaches its part is stopped, the others are skipped', async () => {
  const original = await markedRun();
  const id = evalId();
  await client.putEval(id, setOf([original], { models: [modelOf('long'), modelOf('good')], budget: { max_steps: 4 } }));
  const done = await ended(id);
  expect(done.repeats).toMatchObject([
    { model: modelOf('long'), outcome: 'stopped', steps: 4, reason: expect.stringContaining('steps') },
    { model: modelOf('good'), outcome: 'skipped', reason: 'the budget of the evaluation is spent' },
  ]);
  expect(done.repeats[1]?.run_id).toBeUndefined();
  expect(done.spent.steps).toBe(4);
});

test('a canceled evaluation ends its repeats and begins no more', async () => {
  const original = await markedRun();
  const id = evalId();
  await client.putEval(
    id,
    setOf([original], { models: [modelOf('long'), modelOf('good')], budget: { max_steps: 400 } }),
  );
  await until('a step', async () => ((await client.getEval(id)).repeats[0]?.steps ?? 0) > 0);
  expect(await client.cancelEval(id)).toMatchObject({ status: 'canceling' });
  const done = await ended(id);
  expect(done).toMatchObject({ status: 'canceled', repeats: [{ outcome: 'stopped' }, { outcome: 'skipped' }] });
});

test('the API is killed again and again: each repeat has one run, and every result is there', async () => {
  const original = await markedRun();
  const id = evalId();
  const names = ['good', 'bad', 'first'];
  await client.putEval(id, setOf([original], { models: names.map(modelOf), parallel: 2 }));
  for (let kill = 0; kill < 4; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 200 + kill * 400));
    await system.api.kill();
    await system.api.start();
  }
  const done = await ended(id);
  expect(done.repeats.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'passed']);
  const { data } = await client.listRuns({ label: `eval:${id}`, limit: 100 });
  expect(data.map((run) => run.id).toSorted()).toEqual(done.repeats.map(({ run_id }) => run_id).toSorted());
}, 180_000);
