import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mcpScript } from '@holdpoint/mcp/testing';
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
  accepted = await acceptedServers((directory) => {
    const program = join(directory, 'program.mjs');
    writeFileSync(
      program,
      mcpScript({ onCall: `say({ id, result: ${JSON.stringify({ resultType: 'task', ...working('one') })} })` }),
    );
    return { shop: [shop.url], program: ['--', 'node', program] };
  });
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
  Object.assign(shop, { description: 'Orders a thing.', ...plainTask });
});

async function start(title: string, more: object = {}): Promise<string> {
  const steps = plan([{ tool: 'mcp__shop__order', args: { title } }]);
  const { run } = await system.client.createRun({ policy: allowShop, plan: steps, ...more });
  return run.id;
}

async function stepOf(runId: string) {
  const [step] = (await system.client.listSteps(runId)).data;
  return { id: '', ...step, text: JSON.stringify(step?.result ?? null) };
}

async function ended(title: string, more: object = {}) {
  const runId = await start(title, more);
  await finished(system.client, runId);
  return { runId, ...(await stepOf(runId)) };
}

const deferred = (runId: string) =>
  expect.poll(async () => (await stepOf(runId)).status, { timeout: 30_000 }).toBe('deferred');
const counts = (title: string) =>
  ['tools/call', 'tasks/get', 'tasks/cancel'].map((method) => shop.of(method, title).length);

test('a result that comes after three questions is the result of the call, which is made once', async () => {
  const { id, status, text } = await ended('lamp');
  expect([status, text]).toEqual(['succeeded', expect.stringContaining('ordered lamp')]);
  expect(counts('lamp')).toEqual([1, 3, 0]);
  const declared = {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  expect(shop.of('tools/call', 'lamp')[0]).toMatchObject({ _meta: declared });
  expect(shop.of('tasks/get', 'lamp')[0]).toMatchObject({ _meta: declared });
  expect((await system.client.listAttempts(id)).length).toBe(4);
});

test('a call that was held is approved once, and not again when the server is asked', async () => {
  const runId = await start('held', { policy: { rules: [] } });
  const { id, action_digest } = await nextApproval(system.client, runId);
  expect(counts('held')).toEqual([0, 0, 0]);
  await system.client.decideApproval(id, { decision: 'approve', action_digest });
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(counts('held')).toEqual([1, 3, 0]);
  const { data } = await system.client.listEvents(runId, {});
  expect(data.filter(({ type }) => type === 'approval.requested')).toHaveLength(1);
});

const error = (code: number, message: string) => ({ error: { code, message } });
const ends: [string, (taskId: string) => ReturnType<TaskServer['get']>, string[]][] = [
  ['fails', (id) => ({ ...working(id), status: 'failed', error: { code: -1, message: 'no stock' } }), ['no stock']],
  ['was canceled', (id) => ({ ...working(id), status: 'cancelled' }), ['EMCPTOOL', 'canceled the call']],
  ['is forgotten', () => error(-32602, 'unknown task'), ['EMCPSERVER', 'does not know the task', 'unknown task']],
  ['breaks', () => error(-32603, 'broken'), ['EMCPSERVER', 'broken']],
  ['makes no sense', () => ({ status: 'on its way' }), ['EMCPSERVER', 'not understood']],
  ['has no result', (id) => ({ ...completed(id), result: { content: 'x' } }), ['EMCPSERVER', 'not understood']],
  ['has a result of 1 GB', () => 'huge', ['EMCPTOOBIG']],
  [
    'is an error of the tool',
    (id) => ({ ...completed(id), result: { content: [{ type: 'text', text: 'sold out' }], isError: true } }),
    ['EMCPTOOL', 'sold out'],
  ],
];
test.each(ends)('a task that %s fails the step with words', async (title, get, words) => {
  Object.assign(shop, { get });
  const { status, text } = await ended(title);
  expect(status).toBe('failed');
  for (const word of words) expect(text).toContain(word);
  expect(counts(title)).toEqual([1, 1, 0]);
});

test('a task that asks for input is refused and canceled', async () => {
  Object.assign(shop, { get: (id: string) => ({ ...working(id), status: 'input_required', inputRequests: {} }) });
  expect((await ended('asks')).text).toContain('EMCPINPUT');
  expect(counts('asks')).toEqual([1, 1, 1]);
});

test('a task without an end is canceled when its time is over', async () => {
  Object.assign(shop, { begin: (id: string) => working(id, { ttlMs: 2000 }), get: (id: string) => working(id) });
  const { status, text } = await ended('endless');
  expect(status).toBe('timed_out');
  expect(text).toContain('no result of the call after 2 s');
  expect(counts('endless')).toEqual([1, expect.any(Number), 1]);
  expect(shop.of('tasks/get', 'endless').length).toBeLessThanOrEqual(3);
});

test('a server that is away for a moment is asked again', async () => {
  Object.assign(shop, { get: (id: string, n: number) => (n === 1 ? 'unavailable' : completed(id)) });
  expect((await ended('away')).status).toBe('succeeded');
  expect(counts('away')).toEqual([1, 2, 0]);
});

test('tasks with hostile names, and without one, are refused', async () => {
  const names: unknown[] = ['', 'x'.repeat(257), 'a\nb', 'a\u0000', 'a\u202eb', 7, undefined];
  for (const [index, taskId] of names.entries()) {
    Object.assign(shop, { begin: () => ({ ...working('x'), taskId }) });
    const { status, text } = await ended(`hostile ${index}`);
    expect([index, status, text]).toEqual([index, 'failed', expect.stringContaining('a task that cannot be used')]);
  }
  Object.assign(shop, { begin: () => ({ task: { taskId: 'one', status: 'working' } }) });
  expect((await ended('nested')).text).toContain('a task that cannot be used');
  expect(shop.heard.filter(({ method, params }) => method === 'tasks/get' && names.includes(params.taskId))).toEqual(
    [],
  );
});

test('an odd name goes back as it came', async () => {
  const taskId = 'ünï "\\x" ✓'.padEnd(256, '…');
  Object.assign(shop, { begin: () => working(taskId), get: (id: string) => completed(id, 'here') });
  expect((await ended('odd')).text).toContain('here');
  expect(shop.of('tasks/get', taskId)).toHaveLength(1);
});

const patient = { begin: (id: string) => working(id, { pollIntervalMs: 60_000 }) };

test('a run that is canceled while its call waits cancels the task, and so does the cancel of the call', async () => {
  Object.assign(shop, patient);
  const run = await start('run canceled');
  await deferred(run);
  await system.client.cancelRun(run);
  expect(await finished(system.client, run)).toMatchObject({ status: 'canceled' });
  await expect.poll(() => counts('run canceled'), { timeout: 30_000 }).toEqual([1, 0, 1]);
  const other = await start('call canceled');
  await deferred(other);
  await system.client.cancelStep((await stepOf(other)).id);
  await finished(system.client, other);
  expect(await stepOf(other)).toMatchObject({ status: 'killed' });
  await expect.poll(() => counts('call canceled'), { timeout: 30_000 }).toEqual([1, 0, 1]);
});

test('a call that is canceled while the server is asked cancels the task', async () => {
  Object.assign(shop, { get: () => 'hang' });
  const runId = await start('asked');
  await expect.poll(() => counts('asked'), { timeout: 30_000 }).toEqual([1, 1, 0]);
  await system.client.cancelRun(runId);
  await finished(system.client, runId);
  await expect.poll(() => counts('asked'), { timeout: 30_000 }).toEqual([1, 1, 1]);
});

test('a server that changed while its task works gets nothing', async () => {
  const runId = await start('changed');
  await deferred(runId);
  shop.description = 'Orders a thing, and another.';
  const asked = shop.of('tasks/get', 'changed').length;
  // Another worker has not asked for the tools yet.
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await finished(system.client, runId);
  expect((await stepOf(runId)).text).toContain('EMCPCHANGED');
  expect(counts('changed')).toEqual([1, asked, 0]);
});

test('neither events nor answers have the name of the task', async () => {
  Object.assign(shop, { begin: () => working('name-of-the-task'), get: (_: string, n: number) => completed(`${n}`) });
  const { runId } = await ended('quiet');
  const events = await system.client.listEvents(runId, {});
  expect(events.data.filter(({ type }) => type === 'step.deferred')).toHaveLength(1);
  expect(JSON.stringify(events)).not.toContain('name-of-the-task');
});

test('a program that answers with a task is refused, because it ends with its call', async () => {
  const policy = { rules: [{ match: { tool: 'mcp__program__act' }, action: 'allow' as const }] };
  const { run } = await system.client.createRun({ policy, plan: plan([{ tool: 'mcp__program__act', args: {} }]) });
  await finished(system.client, run.id);
  expect((await stepOf(run.id)).text).toContain('A program ends with its call');
});
