import { existsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openRunBackend } from '@holdpoint/client';
import type { CreateRun } from '@holdpoint/contract/wire';
import { createRyanRegistry, createWorkbenchRegistry } from '@holdpoint/tools/registries';
import { beforeAll, expect, test } from 'vitest';
import { type AppProcess, allowBash, finished, processesWith, until, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem({ workers: 0 });
let worker: AppProcess;
beforeAll(async () => {
  worker = await system.startWorker();
});

type Group = NonNullable<CreateRun['plan']>['groups'][number];
const bash = (command: string) => ({ tool: 'bash', args: { command } });
const submit = async (...groups: Group[]) =>
  (await system.client.createRun({ plan: { groups }, policy: { rules: [allowBash] } })).run.id;
const stepAt = async (runId: string, index: number) => (await system.client.listSteps(runId)).data[index]?.id ?? '';
const begun = (runId: string, file = 'begun') =>
  until(`${file} is there`, () => existsSync(join(system.tree(runId), file)));
const stubborn = (marker: string) =>
  `echo kept > kept; trap "" TERM; setsid sleep ${marker} & touch begun; sleep ${marker}`;

test('a running command dies with all its processes, its files stay, and the run continues', async () => {
  const marker = `4${process.pid}11`;
  const run = await submit({ on_error: 'continue', steps: [bash(stubborn(marker))] }, { steps: [bash('cat kept')] });
  await begun(run);
  const id = await stepAt(run, 0);
  const asked = await system.client.cancelStep(id, { message: 'takes too long' });
  expect(asked.cancel).toEqual({ by: expect.any(String), at: expect.any(String), message: 'takes too long' });
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  expect(await processesWith(marker)).toEqual([]);
  const step = await system.client.getStep(id);
  expect(step).toMatchObject({ status: 'killed', attempts: 1, snapshot: expect.any(String) });
  expect(step.error).toMatchObject({ code: 'ECANCELED', message: expect.stringContaining('takes too long') });
  expect(step.result).toMatchObject({ status: 'killed', error: { code: 'ECANCELED' } });
  expect((await system.client.getStep(await stepAt(run, 1))).result).toMatchObject({ stdout: 'kept\n' });
  expect(await system.client.cancelStep(id)).toMatchObject({ status: 'killed', cancel: { message: 'takes too long' } });
  await expect(system.client.cancelStep(await stepAt(run, 1))).rejects.toMatchObject({
    code: 'step_settled',
    status: 409,
  });
});

test('of calls side by side the canceled one is gone, and the output of its sibling is complete', async () => {
  const marker = `4${process.pid}12`;
  const sibling = 'touch sibling; until [ -e go ]; do sleep 0.1; done; seq 1 2000';
  const { run } = await system.client.createRun({ open: true, toolset: 'ryan', settings: { timeout_ms: 120_000 } });
  const registry = createRyanRegistry(openRunBackend(system.client, run));
  registry.registerBuiltinTools();
  const ending = new AbortController();
  const execute = (command: string, signal?: AbortSignal) =>
    registry.executeAsync({ name: 'execute_bash', parameters: { command } }, { ...(signal && { signal }) });
  const both = [execute(`touch begun; sleep ${marker}`, ending.signal), execute(sibling)] as const;
  await begun(run.id);
  await begun(run.id, 'sibling');
  ending.abort();
  expect(await both[0]).toMatchObject({ success: false, error: 'canceled' });
  await until('its processes are gone', async () => (await processesWith(marker)).length === 0);
  // Its sibling still runs.
  expect((await system.client.getRun(run.id)).open_steps).toBeGreaterThan(0);
  writeFileSync(join(system.tree(run.id), 'go'), '');
  expect((await both[1]).content.trim().split('\n')).toHaveLength(2000);
  expect(await execute('echo next')).toMatchObject({ success: true, content: 'next\n' });
  await system.client.finishRun(run.id);
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  const { data } = await system.client.listSteps(run.id);
  expect(data.map((step) => step.status)).toEqual(['killed', 'succeeded', 'succeeded']);
});

test('a call behind a running one is canceled, outlives a kill of API and worker, and never runs', async () => {
  const { run } = await system.client.createRun({ open: true, policy: { rules: [allowBash] } });
  const marker = `4${process.pid}15`;
  await system.client.sendCalls(run.id, { calls: [bash(`touch begun; sleep ${marker}`)] });
  await system.client.sendCalls(run.id, { calls: [bash('touch canceled'), bash('touch sibling')] });
  await begun(run.id);
  const [behind = ''] = (await system.client.getCalls(run.id, 2)).steps.map(({ id }) => id);
  expect(await system.client.cancelStep(behind)).toMatchObject({ status: 'canceled', turn: null });
  await Promise.all([system.api.kill('SIGKILL'), worker.signal('SIGKILL')]);
  await system.api.start();
  worker = await system.startWorker();
  await system.client.cancelStep(await stepAt(run.id, 0));
  await until('the second turn is settled', async () => (await system.client.getCalls(run.id, 2)).settled);
  const { steps } = await system.client.getCalls(run.id, 2);
  expect(steps.map(({ status, attempts }) => [status, attempts])).toEqual([
    ['canceled', 0],
    ['succeeded', 1],
  ]);
  expect(existsSync(join(system.tree(run.id), 'canceled'))).toBe(false);
  expect(existsSync(join(system.tree(run.id), 'sibling'))).toBe(true);
  expect(await processesWith(marker)).toEqual([]);
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

test('a canceled call of a workbench ends alone: the next call of its run is made', async () => {
  const { run } = await system.client.createRun({ open: true, toolset: 'workbench' });
  const tools = createWorkbenchRegistry(openRunBackend(system.client, run));
  const ending = new AbortController();
  const code = 'touch begun; sleep 600';
  const call = tools.get('run_code')?.execute({ language: 'bash', code }, { signal: ending.signal });
  await begun(run.id);
  ending.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect(await tools.get('read_file')?.execute({ path: 'begun' })).toMatchObject({ ok: true });
  await system.client.finishRun(run.id);
  expect((await finished(system.client, run.id)).status).toBe('succeeded');
});

test('an acknowledged cancel outlives the kill of the API and of a worker that never heard of it', async () => {
  const marker = `4${process.pid}13`;
  const run = await submit(
    { on_error: 'continue', steps: [bash(`echo x >> count; touch begun; sleep ${marker}`)] },
    { steps: [bash('cat count 2>/dev/null; true')] },
  );
  await begun(run);
  const id = await stepAt(run, 0);
  process.kill(worker.pid, 'SIGSTOP');
  expect((await system.client.cancelStep(id)).status).toBe('running');
  await Promise.all([system.api.kill('SIGKILL'), worker.signal('SIGKILL')]);
  await system.api.start();
  worker = await system.startWorker();
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  expect(await processesWith(marker)).toEqual([]);
  const step = await system.client.getStep(id);
  expect(step).toMatchObject({ status: 'killed', attempts: 1, error: { code: 'ECANCELED' } });
  // What the lost attempt left is dropped, and no second one has written.
  expect((await system.client.getStep(await stepAt(run, 1))).result).toMatchObject({ stdout: '' });
});

test('a model reads who canceled its call, and continues', async () => {
  const marker = `4${process.pid}14`;
  mock.on(
    { userMessage: 'sleep well', hasToolResult: false },
    {
      content: 'Sleeping.',
      toolCalls: [
        { id: 'call_s', name: 'bash', arguments: JSON.stringify({ command: `touch begun; sleep ${marker}` }) },
      ],
    },
  );
  mock.on({ userMessage: 'sleep well', hasToolResult: true }, { content: 'I was woken.' });
  const { run } = await system.client.createRun({ prompt: 'Please sleep well.' });
  await begun(run.id);
  await system.client.cancelStep(await stepAt(run.id, 0), { message: 'wake up' });
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded', message: 'I was woken.' });
  const asked = JSON.stringify(mock.getRequests().at(-1)?.body);
  expect(asked).toContain('canceled this call while it ran. They say: wake up');
  // The audit log is written beside the run.
  const recorded = async () => {
    const { data } = await system.client.listAudit({ run_id: run.id, limit: 100 });
    return data.map((record) => JSON.stringify(record));
  };
  await expect.poll(recorded).toContainEqual(expect.stringContaining('"run.succeeded"'));
  expect((await recorded()).filter((text) => text.includes('step.cancel_requested'))).toHaveLength(1);
});

test('a parked call is canceled with its approval, and a late decision changes nothing', async () => {
  const { run } = await system.client.createRun({
    plan: { groups: [{ on_error: 'continue', steps: [bash('touch ran')] }, { steps: [bash('ls')] }] },
    policy: { rules: [{ match: { command: { regex: '^touch ran$' } }, action: 'hold' }, allowBash] },
  });
  await system.client.waitForRun(run.id, { until: (now) => now.pending_approvals > 0 });
  const [approval] = (await system.client.listApprovals({ run_id: run.id })).data;
  const id = await stepAt(run.id, 0);
  expect(await system.client.cancelStep(id)).toMatchObject({ status: 'canceled', attempts: 0 });
  const late = system.client.decideApproval(approval?.id ?? '', {
    decision: 'approve',
    action_digest: approval?.action_digest ?? '',
  });
  await expect(late).rejects.toMatchObject({ code: 'already_decided' });
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(existsSync(join(system.tree(run.id), 'ran'))).toBe(false);
  expect((await system.client.getApproval(approval?.id ?? '')).status).toBe('canceled');
});

test('a tree that the canceled call left is what the log says', async () => {
  const run = await submit(
    { on_error: 'continue', steps: [bash('for i in $(seq 1 500); do echo $i > f$i; done; touch begun; sleep 600')] },
    { steps: [bash('ls f* begun | wc -l > seen')] },
  );
  await begun(run);
  await system.client.cancelStep(await stepAt(run, 0));
  await finished(system.client, run);
  expect((await readFile(join(system.tree(run), 'seen'), 'utf8')).trim()).toBe('501');
  expect((await system.client.diff(run)).files).toHaveLength(502);
});
