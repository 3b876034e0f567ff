import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Approval } from '@holdpoint/contract/wire';
import { build } from 'rolldown';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type AppProcess,
  finished,
  killAt,
  nextApproval,
  plan,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { type AskingServer, acceptedServers, allowShop, serveQuestions } from './asking-server.ts';

let shop: AskingServer;
let accepted: Awaited<ReturnType<typeof acceptedServers>>;
let system: System;
let worker: AppProcess;

beforeAll(async () => {
  shop = await serveQuestions();
  accepted = await acceptedServers(async (directory) => {
    const program = join(directory, 'notes.mjs');
    await build({
      input: fileURLToPath(new URL('asking-program.ts', import.meta.url)),
      platform: 'node',
      output: { file: program, format: 'esm', codeSplitting: false },
      logLevel: 'silent',
    });
    return { shop: [shop.url], notes: ['--', 'node', program] };
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
  Object.assign(shop, { rounds: 1, hangs: false });
});

const answer = JSON.stringify({ colour: 'red', count: 2 });
const answered = { choice: { action: 'accept', content: { colour: 'red', count: 2 } } };

async function start(title: string): Promise<string> {
  const steps = plan([{ tool: 'mcp__shop__order', args: { title } }]);
  const { run } = await system.client.createRun({ policy: allowShop, plan: steps });
  return run.id;
}

const respond = ({ id, action_digest }: Approval, message = answer) =>
  system.client.decideApproval(id, { decision: 'respond', action_digest, message });

async function statusOf(runId: string): Promise<string | undefined> {
  return (await system.client.listSteps(runId)).data[0]?.status;
}

async function restartWorker(): Promise<void> {
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
}

test('a worker that dies before its call: the first call is made once', async () => {
  shop.hangs = false;
  const runId = await start('asked');
  const approval = await nextApproval(system.client, runId);
  const isKilled = await killAt(system, { runId, text: 'step.started', pid: worker.pid });
  await respond(approval);
  await isKilled();
  await restartWorker();
  await expect.poll(() => statusOf(runId), { timeout: 60_000 }).toMatch(/^(succeeded|indeterminate)$/);
  const calls = shop.of('asked');
  expect(calls[0]).toMatchObject({ answers: null });
  expect(calls.length).toBeLessThanOrEqual(2);
  if ((await statusOf(runId)) === 'succeeded') expect(calls[1]).toMatchObject({ answers: answered });
  else await system.client.cancelRun(runId);
  await finished(system.client, runId);
});

test('a worker that dies when it records the question: the call is not made again by itself', async () => {
  const { run } = await system.client.createRun({
    policy: { rules: [] },
    plan: plan([{ tool: 'mcp__shop__order', args: { title: 'recorded' } }]),
  });
  const held = await nextApproval(system.client, run.id);
  const isKilled = await killAt(system, { runId: run.id, text: 'step.asked', pid: worker.pid });
  const { id, action_digest } = held;
  await system.client.decideApproval(id, { decision: 'approve', action_digest });
  await isKilled();
  await restartWorker();
  await expect.poll(() => statusOf(run.id), { timeout: 60_000 }).toMatch(/^(parked|indeterminate)$/);
  expect(shop.of('recorded')).toHaveLength(1);
  await system.client.cancelRun(run.id);
  await finished(system.client, run.id);
});

test('an API that dies when it records the answer: the same answer again counts once', async () => {
  const runId = await start('decided');
  const approval = await nextApproval(system.client, runId);
  const isKilled = await killAt(system, { runId, text: 'approval.decided', pid: system.api.pid() });
  await respond(approval).catch(() => {});
  await isKilled();
  await until('the API is gone', () => !system.api.isAlive());
  await system.api.start();
  await respond(approval);
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(shop.of('decided').map(({ answers }) => answers)).toEqual([null, answered]);
});

test('a worker that dies in the call with the answer: it runs again only by decision, with answer and state', async () => {
  const runId = await start('second');
  const question = await nextApproval(system.client, runId);
  shop.hangs = true;
  await respond(question);
  await until('the answer has arrived', () => shop.of('second').length === 2);
  await worker.signal('SIGKILL');
  shop.hangs = false;
  worker = await system.startWorker();
  await expect.poll(() => statusOf(runId), { timeout: 60_000 }).toBe('indeterminate');
  expect(shop.of('second')).toHaveLength(2);
  const { id, action_digest } = await nextApproval(system.client, runId);
  await system.client.decideApproval(id, { decision: 'approve', action_digest });
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  const [, first, again] = shop.of('second');
  expect(again).toEqual(first);
  expect(again).toMatchObject({ answers: answered, state: 'round 1 ünï "\\u200b"' });
});

test('a program in the sandbox: what it wrote before the question stays, and a lost second call leaves nothing', async () => {
  const { run } = await system.client.createRun({ plan: plan([{ tool: 'mcp__notes__note', args: { slow: true } }]) });
  const file = () => readFileSync(join(system.tree(run.id), 'notes.txt'), 'utf8');
  const approval = await nextApproval(system.client, run.id);
  expect(approval.readable.preview).toContain('| Whose note?');
  expect(file()).toBe('asked\n');
  await restartWorker();
  await respond(approval, 'Ann');
  await until('the program has the answer', () => file().includes('Ann'));
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(file()).toBe('asked\n{"action":"accept","content":{"name":"Ann"}} one\n');
  const attempts = await system.client.listAttempts((await system.client.listSteps(run.id)).data[0]?.id ?? '');
  expect(attempts.map(({ end }) => end)).toEqual(['asked', 'retried', 'succeeded']);
});
