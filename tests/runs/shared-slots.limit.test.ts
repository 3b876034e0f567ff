import type { Client } from '@holdpoint/client';
import { allScopes, installationScopes } from '@holdpoint/contract';
import type { CreateRun, RunDetail } from '@holdpoint/contract/wire';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { bash, finished, plan, until, useSystem } from '../harness/index.ts';

const slots = 2;
const system = useSystem({
  env: () => ({ HOLDPOINT_WORKER_STEPS: String(slots), HOLDPOINT_WORKER_TASKS: '2', HOLDPOINT_WORKER_RUNS: '4' }),
});
const { client } = system;
let guest: Client;
beforeAll(async () => {
  const scopes = allScopes.filter((scope) => !installationScopes.has(scope));
  const { key } = await client.createKey({ name: 'ben', kind: 'person', tenant: 'guest', scopes });
  guest = system.as(key);
  return () => guest.close();
});

let long: string[] = [];
afterEach(async () => {
  for (const id of long) await client.cancelRun(id);
  await Promise.all(long.map((id) => finished(client, id)));
  long = [];
});

async function crowd(count: number, body: Omit<CreateRun, 'source'>): Promise<void> {
  for (let n = 0; n < count; n++) long.push((await client.createRun(body)).run.id);
}

const running = async (of: 'steps' | 'tasks') => {
  const found = await Promise.all(
    long.map(async (id) => (of === 'steps' ? (await client.listSteps(id)).data : await client.listTasks(id))),
  );
  return found.flat().filter(({ status }) => status === 'running').length;
};

/** A run of the other tenant ends although the crowd holds its slots. */
async function passes(groups: NonNullable<CreateRun['plan']> = plan([bash('echo passed')])): Promise<RunDetail> {
  const from = Date.now();
  const { run } = await guest.createRun({ plan: groups });
  const end = await finished(guest, run.id);
  expect(end).toMatchObject({ status: 'succeeded' });
  // The crowd sleeps for 100 s.
  expect(Date.now() - from).toBeLessThan(40_000);
  return end;
}

test('long steps of one tenant leave a slot for another one', async () => {
  await crowd(12, { plan: plan([bash('sleep 100')]) });
  await until('every slot is taken', async () => (await running('steps')) === slots);
  await passes();
  await passes(plan([bash('echo 1')], [bash('echo 2')], [bash('echo 3')]));
  expect(await running('steps')).toBe(slots);
}, 200_000);

test('long background commands of one tenant leave a slot for another one', async () => {
  const wait = { tool: 'task_output', args: { task_id: { $from: 'bg', pointer: '/task_id' }, wait_s: 100 } };
  const groups = (command: string) => [
    { steps: [{ name: 'bg', tool: 'bash', args: { command, run_in_background: true } }] },
    { steps: [wait] },
  ];
  await crowd(4, { plan: { groups: groups('sleep 100') } });
  await until('every slot is taken', async () => (await running('tasks')) === 2);
  const run = await passes({ groups: groups('echo passed') });
  const step = (await guest.listSteps(run.id)).data[1];
  expect((await guest.getStep(step?.id ?? '')).result).toMatchObject({ status: 'completed', exit_code: 0 });
}, 200_000);

test('long commands of prepare of one tenant leave a place for another one', async () => {
  await crowd(20, {
    plan: plan([bash('true')]),
    prepare: { commands: [{ command: 'sleep 100' }] },
  });
  await until('places are taken', async () => {
    const found = await Promise.all(long.map((id) => client.getRun(id)));
    return found.filter(({ status }) => status === 'running').length >= 4;
  });
  await passes();
}, 200_000);
