import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AppProcess, finished, nextApproval, plan, type System, startSystem } from '../harness/index.ts';
import { acceptedServers, allowShop } from './asking-server.ts';
import { completed, plainTask, serveTasks, type TaskServer, working } from './task-server.ts';

let shop: TaskServer;
let accepted: Awaited<ReturnType<typeof acceptedServers>>;
let system: System;
let worker: AppProcess;

beforeAll(async () => {
  shop = await serveTasks();
  accepted = await acceptedServers(() => ({ shop: [shop.url] }));
  system = await startSystem(accepted.settings);
  await accepted.accept(system);
  worker = await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  accepted?.[Symbol.dispose]();
  shop?.[Symbol.dispose]();
});
beforeEach(() => {
  Object.assign(shop, plainTask);
});

async function start(title: string): Promise<string> {
  const steps = plan([{ tool: 'mcp__shop__order', args: { title } }]);
  const { run } = await system.client.createRun({ policy: allowShop, plan: steps });
  return run.id;
}

const counts = (title: string) =>
  ['tools/call', 'tasks/get', 'tasks/cancel'].map((method) => shop.of(method, title).length);
const statusOf = async (runId: string) => (await system.client.listSteps(runId)).data[0]?.status;

test('a worker that is killed while the call waits is followed by one that asks about the same task', async () => {
  const runId = await start('lamp');
  await expect.poll(() => statusOf(runId), { timeout: 30_000 }).toBe('deferred');
  await worker.signal('SIGKILL');
  await system.api.kill();
  await system.api.start();
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('lamp')[0]).toBe(1);
});

test('a worker that is killed while it asks is followed by one that asks again, without a person', async () => {
  Object.assign(shop, { get: (id: string, n: number) => (n === 1 ? 'hang' : completed(id)) });
  const runId = await start('asking');
  await expect.poll(() => counts('asking'), { timeout: 30_000 }).toEqual([1, 1, 0]);
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('asking')).toEqual([1, 2, 0]);
});

test('a worker that is killed before the task is recorded leaves the call to a person', async () => {
  Object.assign(shop, {
    begin: (id: string) => {
      void worker.signal('SIGKILL');
      return working(id);
    },
  });
  const runId = await start('lost');
  await expect.poll(() => counts('lost'), { timeout: 30_000 }).toEqual([1, 0, 0]);
  Object.assign(shop, plainTask);
  worker = await system.startWorker();
  expect((await nextApproval(system.client, runId)).kind).toBe('indeterminate');
  expect(counts('lost')).toEqual([1, 0, 0]);
  await system.client.cancelRun(runId);
});

test('a worker that is killed before it cancels the task of a canceled run leaves that to the next', async () => {
  Object.assign(shop, { begin: (id: string) => working(id, { pollIntervalMs: 5000 }) });
  const runId = await start('canceled');
  await expect.poll(() => statusOf(runId), { timeout: 30_000 }).toBe('deferred');
  await worker.signal('SIGKILL');
  await system.client.cancelRun(runId);
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'canceled' });
  await expect.poll(() => counts('canceled'), { timeout: 30_000 }).toEqual([1, 0, 1]);
});
