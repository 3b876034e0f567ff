import { createClient } from '@holdpoint/client';
import type { Scope } from '@holdpoint/contract';
import type { PutSchedule } from '@holdpoint/contract/wire';
import { openScheduleStore } from '@holdpoint/engine';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi({ sweepMs: 300 });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  for (const { name } of await api.client.listSchedules()) await api.client.deleteSchedule(name);
});

const within = { timeout: 30_000 };
const isoOf = (time: number) => new Date(time).toISOString();
const steps = [
  { tool: 'write_file', args: { path: 'a.txt', content: '{{schedule}} of {{scheduled_for}}, {{other}}\n' } },
];
const nightly: PutSchedule = {
  cron: '0 3 * * *',
  zone: 'Europe/Berlin',
  run: { title: 'Nightly {{scheduled_for}}', plan: { groups: [{ steps }] }, labels: { team: 'a' } },
};
const store = () => openScheduleStore(api.engine.redis);
const runsOf = async (schedule: string) => (await api.client.listRuns({ label: `schedule:${schedule}` })).data;

/** The schedule as if its next occurrence were at this time. */
async function setNext(name: string, time: number): Promise<void> {
  for (let outcome = ''; outcome !== 'stored'; ) {
    const found = await store().find({ tenant: 'default', name });
    if (found === undefined) throw new Error('no schedule');
    const state = { ...found.state, next: isoOf(time), anchor: isoOf(time - 86_400_000) };
    outcome = await store().put({ after: found.revision, state, wakeAt: time });
  }
}

async function keyOf(name: string, scopes: Scope[], kind: 'person' | 'service' | 'agent' = 'service') {
  const { key, id } = await api.client.createKey({ name, kind, scopes });
  return { id, client: createClient({ baseUrl: api.address, key }) };
}

test('a schedule shows its times, is replaced, and is deleted', async () => {
  const { schedule, created } = await api.client.putSchedule('nightly', nightly);
  expect([created, schedule.status, schedule.version, schedule.overlap]).toEqual([true, 'active', 1, 'skip']);
  expect(schedule.upcoming).toHaveLength(5);
  expect(schedule.upcoming[0]).toBe(schedule.next);
  expect(new Date(schedule.next ?? '').getUTCMinutes()).toBe(0);
  expect(await api.client.putSchedule('nightly', nightly)).toMatchObject({ created: false, schedule: { version: 1 } });
  const other = await api.client.putSchedule('nightly', { ...nightly, cron: '0 4 * * *' }, { ifVersion: 1 });
  expect(other).toMatchObject({ created: false, schedule: { version: 2, cron: '0 4 * * *' } });
  await expect(api.client.putSchedule('nightly', nightly, { ifVersion: 1 })).rejects.toMatchObject({
    code: 'schedule_changed',
  });
  expect((await api.client.listSchedules()).map(({ name }) => name)).toEqual(['nightly']);
  expect(await api.client.deleteSchedule('nightly', { ifVersion: 2 })).toMatchObject({ name: 'nightly' });
  await expect(api.client.getSchedule('nightly')).rejects.toMatchObject({ code: 'schedule_not_found' });
});

test('an occurrence that is due has one run, with its texts and labels', async () => {
  await api.client.putSchedule('nightly', nightly);
  const time = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
  await setNext('nightly', time);
  // The sweep finds it: nothing woke it.
  await vi.waitFor(async () => expect(await runsOf('nightly')).toHaveLength(1), within);
  const [run] = await runsOf('nightly');
  const scheduledFor = isoOf(time).replace('.000Z', 'Z');
  expect(run).toMatchObject({
    title: `Nightly ${scheduledFor}`,
    labels: { team: 'a', schedule: 'nightly', scheduled_for: scheduledFor },
  });
  await worker.drive(run?.id ?? '');
  const { stdout } = { stdout: await (await api.send(`/v1/runs/${run?.id}/diff?format=patch`)).text() };
  expect(stdout).toContain(`+nightly of ${scheduledFor}, {{other}}`);
  expect(await api.client.listOccurrences('nightly')).toMatchObject([
    { scheduled_for: isoOf(time), kind: 'scheduled', outcome: 'submitted', run_id: run?.id },
  ]);
  expect(Date.parse((await api.client.getSchedule('nightly')).next ?? '')).toBeGreaterThan(Date.now());
});

test('a trigger and a backfill submit runs, also of a paused schedule', async () => {
  await api.client.putSchedule('hourly', { ...nightly, cron: '0 * * * *', zone: 'UTC' });
  const paused = await api.client.pauseSchedule('hourly', 'holidays');
  expect(paused).toMatchObject({ status: 'paused', paused: { reason: 'holidays' }, upcoming: [] });
  await api.client.triggerSchedule('hourly');
  await vi.waitFor(async () => expect(await runsOf('hourly')).toHaveLength(1), within);
  await worker.drive((await runsOf('hourly'))[0]?.id ?? '');
  const period = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T02:30:00Z' };
  expect(await api.client.backfillSchedule('hourly', period)).toMatchObject({ waiting: 3 });
  // One after the other.
  for (const count of [2, 3, 4]) {
    await vi.waitFor(async () => expect(await runsOf('hourly')).toHaveLength(count), within);
    for (const { id, status } of await runsOf('hourly')) if (status !== 'succeeded') await worker.drive(id);
  }
  expect((await api.client.listOccurrences('hourly')).map(({ kind, scheduled_for }) => [kind, scheduled_for])).toEqual([
    ['backfill', '2026-01-01T02:00:00.000Z'],
    ['backfill', '2026-01-01T01:00:00.000Z'],
    ['backfill', '2026-01-01T00:00:00.000Z'],
    ['triggered', expect.any(String)],
  ]);
  expect(await api.client.resumeSchedule('hourly')).toMatchObject({ status: 'active', paused: null });
});

test('cancel_other cancels the run of the occurrence before', async () => {
  await api.client.putSchedule('often', { ...nightly, cron: '* * * * *', zone: 'UTC', overlap: 'cancel_other' });
  await setNext('often', Date.now() - 1000);
  await vi.waitFor(async () => expect(await runsOf('often')).toHaveLength(1), within);
  const [first] = await runsOf('often');
  await setNext('often', Date.now() - 500);
  await vi.waitFor(async () => expect((await api.client.getRun(first?.id ?? '')).status).toBe('canceling'), within);
  await worker.plan(first?.id ?? '');
  await vi.waitFor(async () => expect(await runsOf('often')).toHaveLength(2), within);
});

test('a key that ended pauses the schedule, and another one resumes it', async () => {
  const { client, id } = await keyOf('leaves', ['schedules:write', 'schedules:read', 'runs:write', 'runs:read']);
  await client.putSchedule('mine', nightly);
  await api.client.rotateKey(id, { grace_s: 0 });
  await setNext('mine', Date.now() - 1000);
  await vi.waitFor(async () => expect(await runsOf('mine')).toHaveLength(1), within);
  expect((await runsOf('mine'))[0]).toMatchObject({ created_by: 'leaves' });
  await worker.drive((await runsOf('mine'))[0]?.id ?? '');
  await api.client.revokeKey(id);
  await setNext('mine', Date.now() - 500);
  await vi.waitFor(async () => expect((await api.client.getSchedule('mine')).status).toBe('paused'), within);
  expect((await api.client.getSchedule('mine')).paused?.reason).toContain('the key leaves was revoked');
  expect(await runsOf('mine')).toHaveLength(1);
  expect(await api.client.resumeSchedule('mine')).toMatchObject({
    status: 'active',
    runs_as: expect.not.stringMatching('leaves'),
  });
});

test('a refused submission counts as a failure, and the schedule pauses', async () => {
  await api.client.putPolicy('strict', { rules: [] });
  await api.client.putSchedule('strict', {
    ...nightly,
    pause_after: 1,
    run: { ...nightly.run, policy: { name: 'strict' } },
  });
  await api.client.deletePolicy('strict');
  await setNext('strict', Date.now() - 1000);
  await vi.waitFor(async () => expect((await api.client.getSchedule('strict')).status).toBe('paused'), within);
  expect((await api.client.listOccurrences('strict'))[0]).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('unknown_policy'),
  });
});

test.each([
  ['/cron', { cron: '* * *' }],
  ['/cron', { cron: '0 0 30 2 *' }],
  ['/cron', { cron: undefined }],
  ['/every_s', { every_s: 3600 }],
  ['/every_s', { cron: undefined, every_s: 1 }],
  ['/zone', { zone: 'Nowhere/City' }],
  ['/end_at', { end_at: '2020-01-01T00:00:00Z' }],
  ['/overlap', { overlap: 'both' }],
  ['/run/plan/groups/0/steps/0/tool', { run: { plan: { groups: [{ steps: [{ tool: 'no_tool', args: {} }] }] } } }],
  ['/run/labels/schedule', { run: { ...nightly.run, labels: { schedule: 'x' } } }],
  ['/run', { run: {} }],
])('a mistake at %s is refused, and nothing is changed', async (pointer, more) => {
  const before = await contentOf(api.engine);
  const response = await api.send('/v1/schedules/wrong', {
    ...{ method: 'PUT', body: JSON.stringify({ ...nightly, ...more }) },
    headers: { 'content-type': 'application/json' },
  });
  const problem = await problemOf(response);
  expect([problem.status, problem.errors?.map((one) => one.pointer)]).toEqual([422, expect.arrayContaining([pointer])]);
  expect(await contentOf(api.engine)).toEqual(before);
});

test('a name that is none, a period without occurrences, and one with too many are refused', async () => {
  await expect(api.client.putSchedule('No Name', nightly)).rejects.toMatchObject({ code: 'invalid_schedule' });
  await api.client.putSchedule('often', { ...nightly, cron: '* * * * *' });
  const backfill = (from: string, to: string) => api.client.backfillSchedule('often', { from, to });
  await expect(backfill('2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z')).rejects.toMatchObject({ status: 422 });
  await expect(backfill('2026-01-01T00:00:10Z', '2026-01-01T00:00:20Z')).rejects.toMatchObject({ status: 422 });
  await expect(backfill('2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z')).rejects.toMatchObject({ status: 422 });
  await expect(backfill('2026-01-01T00:00:00Z', '2096-01-03T00:00:00Z')).rejects.toMatchObject({ status: 422 });
});

test('an agent changes no schedule, a key without runs:write makes none, and another tenant sees none', async () => {
  await api.client.putSchedule('nightly', nightly);
  await expect(keyOf('robot', ['schedules:write'], 'agent')).rejects.toMatchObject({ code: 'invalid_key' });
  const { client } = await keyOf('half', ['schedules:write', 'schedules:read']);
  await expect(client.putSchedule('other', nightly)).rejects.toMatchObject({ code: 'missing_scope' });
  const { key } = await api.client.createKey({
    name: 'else',
    kind: 'service',
    tenant: 'else',
    scopes: ['schedules:read', 'schedules:write', 'runs:write'],
  });
  const foreign = createClient({ baseUrl: api.address, key });
  expect(await foreign.listSchedules()).toEqual([]);
  for (const ask of [foreign.getSchedule, foreign.triggerSchedule, foreign.deleteSchedule])
    await expect(ask('nightly')).rejects.toMatchObject({ status: 404 });
  await foreign.close();
});

test('a run that was made counts, although the key of the schedule has ended before the schedule knows of it', async () => {
  const { client, id } = await keyOf('gone', ['schedules:write', 'schedules:read', 'runs:write', 'runs:read']);
  await client.putSchedule('late', nightly);
  const { run } = await client.createRun({ plan: { groups: [{ steps }] } });
  await api.client.revokeKey(id);
  // As a process leaves the schedule that dies right after the submission.
  for (let outcome = ''; outcome !== 'stored'; ) {
    const found = await store().find({ tenant: 'default', name: 'late' });
    if (found === undefined) throw new Error('no schedule');
    const at = isoOf(Date.now());
    const submitting = { at, kind: 'scheduled' as const, run_id: run.id, since: at };
    outcome = await store().put({ after: found.revision, state: { ...found.state, submitting }, wakeAt: 0 });
  }
  await vi.waitFor(async () => expect(await api.client.listOccurrences('late')).toHaveLength(1), within);
  expect((await api.client.listOccurrences('late'))[0]).toMatchObject({ outcome: 'submitted', run_id: run.id });
  expect(await api.client.getSchedule('late')).toMatchObject({ status: 'active', running: [{ run_id: run.id }] });
});
