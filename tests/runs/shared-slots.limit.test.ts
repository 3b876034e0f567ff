import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@holdpoint/client';
import { allScopes, installationScopes } from '@holdpoint/contract';
import type { CreateRun, RunDetail } from '@holdpoint/contract/wire';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { bash, finished, plan, projectDir, until, useSystem } from '../harness/index.ts';

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

/** What a command prints, with its errors. */
async function cli(...args: string[]): Promise<string> {
  const env = { ...process.env, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key, ...system.settings };
  const command = [join(projectDir, 'apps/cli/src/main.ts'), ...args];
  const ended = promisify(execFile)(process.execPath, command, { env, timeout: 60_000 });
  const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) => error);
  return `${stdout}${stderr}`;
}

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
  const last = long.at(-1) ?? '';
  await until('the last one stands in line', async () => (await client.getRun(last)).waits_for !== undefined);
  const { waits_for } = await client.getRun(last);
  expect(waits_for).toEqual({ kind: 'place', ahead: 15, in_progress: 4, of: 4 });
  const { places } = await client.stuck();
  expect(places).toMatchObject({ working: { used: 4, of: 4 }, asking: { used: 0 }, waiting: 16 });
  const text = 'a place among the runs in progress: 4 of 4 are taken, 15 runs before it';
  expect(await cli('runs', 'get', last)).toContain(text);
  expect(await cli('watch', last, '--timeout', '8')).toContain(`The run waits for ${text}.`);
  expect(await cli('doctor')).toMatch(/4 of 4 runs in progress work, 0 of \d+ ask a model; 16 stand in line/);
  await passes();
}, 200_000);
