import type { Approval } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AppProcess, finished, nextApproval, plan, type System, startSystem } from '../harness/index.ts';
import { acceptedServers, allowShop } from './asking-server.ts';
import { asking, completed, plainTask, serveTasks, type TaskServer, working } from './task-server.ts';

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
  return (await system.client.createRun({ policy: allowShop, plan: steps })).run.id;
}

const respond = ({ id, action_digest }: Approval, message: string) =>
  system.client.decideApproval(id, { decision: 'respond', action_digest, message });
const counts = (title: string) =>
  ['tools/call', 'tasks/update', 'tasks/cancel'].map((method) => shop.of(method, title).length);
const answersOf = (title: string) => shop.of('tasks/update', title).map(({ inputResponses }) => inputResponses);
const stepOf = async (runId: string) => (await system.client.listSteps(runId)).data[0];

/** Asks for each key in its turn, until it has an answer. */
function asksFor(...keys: string[]): void {
  Object.assign(shop, {
    get: (id: string) => {
      const answered = answersOf(id).flatMap((one) => Object.keys(Object(one)));
      const [next] = keys.filter((key) => !answered.includes(key));
      return next === undefined ? completed(id) : asking(id, next);
    },
  });
}

test('a task that asks in its middle parks the call, and gets each answer once', async () => {
  asksFor('colour', 'size');
  const runId = await start('lamp');
  const first = await nextApproval(system.client, runId);
  expect(first).toMatchObject({ kind: 'input', allowed_decisions: ['respond', 'reject'] });
  expect(first.readable.preview).toContain('Which colour?');
  // The worker that asked is gone when the answer comes.
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await respond(first, 'red');
  const second = await nextApproval(system.client, runId);
  expect(second.readable.preview).toContain('Which size?');
  await respond(second, 'small');
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('lamp')).toEqual([1, 2, 0]);
  expect(answersOf('lamp')).toEqual([
    { colour: { action: 'accept', content: { colour: 'red' } } },
    { size: { action: 'accept', content: { size: 'small' } } },
  ]);
  const { data } = await system.client.listEvents(runId, {});
  expect(data.filter(({ type }) => type === 'step.asked')).toHaveLength(2);
});

test('a worker that dies after the server has the answer is followed by one that does not send it again', async () => {
  asksFor('colour');
  Object.assign(shop, {
    update: () => {
      void worker.signal('SIGKILL');
      return 'hang';
    },
  });
  const runId = await start('killed');
  await respond(await nextApproval(system.client, runId), 'red');
  await expect.poll(() => counts('killed'), { timeout: 30_000 }).toEqual([1, 1, 0]);
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('killed')).toEqual([1, 1, 0]);
});

test('a worker that dies before the server has the answer is followed by one that sends it', async () => {
  let taken = 0;
  Object.assign(shop, {
    get: (id: string) => (taken > 0 ? completed(id) : asking(id, 'colour')),
    update: (id: string) => {
      if (shop.of('tasks/update', id).length > 1) {
        taken += 1;
        return {};
      }
      void worker.signal('SIGKILL');
      return 'hang';
    },
  });
  const runId = await start('again');
  await respond(await nextApproval(system.client, runId), 'red');
  await expect.poll(() => counts('again')[1], { timeout: 30_000 }).toBe(1);
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect([taken, counts('again')]).toEqual([1, [1, 2, 0]]);
});

test('a server that repeats an answered question for a while is not answered twice, and no person is asked again', async () => {
  Object.assign(shop, {
    get: (id: string) => {
      const since = shop.of('tasks/get', id).length;
      return counts(id)[1] === 1 && since > 4 ? completed(id) : asking(id, 'colour');
    },
  });
  const runId = await start('repeats');
  await respond(await nextApproval(system.client, runId), 'red');
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('repeats')).toEqual([1, 1, 0]);
  const { data } = await system.client.listEvents(runId, {});
  expect(data.filter(({ type }) => type === 'approval.requested')).toHaveLength(1);
});

test('a person who declines ends the call and its task, and so does a cancel', async () => {
  asksFor('colour');
  const declined = await start('declined');
  const { id, action_digest } = await nextApproval(system.client, declined);
  await system.client.decideApproval(id, { decision: 'reject', action_digest, message: 'no' });
  await finished(system.client, declined);
  expect(JSON.stringify((await stepOf(declined))?.result)).toContain('EREJECTED');
  await expect.poll(() => counts('declined'), { timeout: 30_000 }).toEqual([1, 0, 1]);
  const canceled = await start('canceled');
  await nextApproval(system.client, canceled);
  await system.client.cancelRun(canceled);
  await finished(system.client, canceled);
  await expect.poll(() => counts('canceled'), { timeout: 30_000 }).toEqual([1, 0, 1]);
});

const asks = (method: string, params: object) => (id: string) => ({
  ...working(id),
  status: 'input_required',
  inputRequests: { one: { method, params } },
});

test.each([
  ['samples', asks('sampling/createMessage', { messages: [], maxTokens: 10 })],
  [
    'visits',
    asks('elicitation/create', { mode: 'url', message: 'Log in', url: 'https://a.example', elicitationId: 'x' }),
  ],
  ['floods', (id: string) => asking(id, ...Array.from({ length: 6 }, (_, n) => `key${n}`))],
])('a task that %s is refused and canceled', async (title, get) => {
  Object.assign(shop, { get });
  const runId = await start(title);
  await finished(system.client, runId);
  expect(JSON.stringify((await stepOf(runId))?.result)).toContain('EMCPINPUT');
  expect(counts(title)).toEqual([1, 0, 1]);
});

test('a server that does not take the answer fails the call', async () => {
  Object.assign(shop, {
    get: (id: string) => asking(id, 'colour'),
    update: () => ({ error: { code: -32602, message: 'too late' } }),
  });
  const runId = await start('refuses');
  await respond(await nextApproval(system.client, runId), 'red');
  await finished(system.client, runId);
  expect(JSON.stringify((await stepOf(runId))?.result)).toMatch(/does not take the answer.*too late/);
  expect(counts('refuses')).toEqual([1, 1, 1]);
});
