import type { LoggedEvent } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import type { JobContext } from '../jobs/job.ts';
import { readLog, readStep, readTasks } from '../log/index.ts';
import type { ExecutionContext } from '../ports/index.ts';
import { listSteps, readCalls } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import {
  Died,
  deliverAll,
  type InMemoryWorker,
  inMemoryWorker,
  openSpec,
  specOf,
  sweepOnce,
} from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestCancelOfStep } from './cancel-step.ts';
import { requestCancel, requestPause, requestResume, sendCalls, submitRun } from './index.ts';

const engine = useTestEngine({ fresh: true });

type Deps = InMemoryWorker['deps'];
const read = { args: { effect: 'read' } };
const write = { args: { effect: 'workspace' } };
const external = { args: { effect: 'external' } };
const rule = (effect: string, action: string) => ({ policy: { rules: [{ match: { effect }, action }] } });
const hold = (effect: string) => rule(effect, 'hold');
const ann = { by: 'ann', message: 'not this one' };

const submit = async (deps: Deps, groups: Parameters<typeof specOf>[0], more: Parameters<typeof specOf>[1] = {}) =>
  (await submitRun(deps, { spec: specOf(groups, { onError: 'continue', ...more }), by: 'test' })).runId;
const stepAt = async (deps: Deps, runId: string, at: number) => (await listSteps(deps, runId)).steps[at]?.id ?? '';
const statuses = async (deps: Deps, runId: string) => (await listSteps(deps, runId)).steps.map(({ status }) => status);
const cancelAt = async (deps: Deps, runId: string, at: number) =>
  requestCancelOfStep(deps, runId, await stepAt(deps, runId, at), ann);
const plan = (deps: Deps, runId: string) => handleTurn(deps, { run_id: runId, turn: 1 }, calm());
const typesOf = (events: readonly LoggedEvent[], id: string) =>
  events.flatMap((event) => ('step_id' in event && event.step_id === id ? [event.type] : []));

/** Runs the job of a step. Returns when the call has begun and the log has its start; `cancel` is the message of the API to the worker. */
async function begin(deps: Deps, runId: string, at: number, began: Promise<unknown>) {
  const canceled = new AbortController();
  const context: JobContext = { ...calm(), canceled: canceled.signal };
  const job = handleStep(deps, { run_id: runId, step_id: await stepAt(deps, runId, at) }, context);
  await Promise.race([began, job]);
  await expect.poll(async () => (await statuses(deps, runId))[at]).toBe('running');
  return { job, cancel: () => canceled.abort('canceled') };
}

/** An executor whose n-th call waits until it is aborted. */
function waiting(nth = 1) {
  const began = Promise.withResolvers<ExecutionContext>();
  let calls = 0;
  const execute = async (context: ExecutionContext) => {
    calls += 1;
    if (calls !== nth) return;
    began.resolve(context);
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
  };
  return { began: began.promise, execute };
}

test('a queued call is over with the answer, never runs, and its siblings continue', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, [[read, read], [read]]);
  await plan(deps, runId);
  await cancelAt(deps, runId, 0);
  expect(await statuses(deps, runId)).toEqual(['canceled', 'queued']);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect([run.status, ...steps.map(({ status }) => status)]).toEqual([
    'succeeded',
    'canceled',
    'succeeded',
    'succeeded',
  ]);
  expect(steps[0]).toMatchObject({
    cancel: { by: 'ann', message: 'not this one', at: expect.any(String) },
    outcome: {
      attempt: null,
      error: { code: 'ECANCELED', message: 'ann canceled this call before it ran. They say: not this one' },
    },
  });
  expect(executions.map(({ stepId }) => stepId)).toEqual(steps.slice(1).map(({ id }) => id));
  await soundLog(deps, runId);
});

test('a pending call that waits for another one is over at once, and the calls behind it follow', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[write, write, write]]);
  await plan(deps, runId);
  expect(await statuses(deps, runId)).toEqual(['queued', 'pending', 'pending']);
  await cancelAt(deps, runId, 1);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect([run.status, ...steps.map(({ status }) => status)]).toEqual([
    'succeeded',
    'succeeded',
    'canceled',
    'succeeded',
  ]);
  expect(treeOf(runId)).toEqual([steps[0]?.id, steps[2]?.id]);
  await soundLog(deps, runId);
});

test('a parked call is over with its approval, and a late decision is refused', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, [[write, read]], hold('workspace'));
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  await cancelAt(deps, runId, 0);
  await expect(decideOn(deps, view, { decision: 'approve' })).rejects.toMatchObject({ code: 'already_decided' });
  expect(await pendingApprovals(deps, runId)).toEqual([]);
  await deliverAll(deps);
  const { run, steps, approvals } = await listSteps(deps, runId);
  expect([run.status, ...steps.map(({ status }) => status)]).toEqual(['succeeded', 'canceled', 'succeeded']);
  expect(approvals.map(({ status }) => status)).toEqual(['canceled']);
  expect(executions.map(({ stepId }) => stepId)).toEqual([steps[1]?.id]);
  await soundLog(deps, runId);
});

test('an approved call that has not begun gives the place of the writer back', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[write], [write]], hold('workspace'));
  await deliverAll(deps);
  await decideOn(deps, (await pendingApprovals(deps, runId))[0]);
  expect((await listSteps(deps, runId)).run.writer).toBe(await stepAt(deps, runId, 0));
  await cancelAt(deps, runId, 0);
  expect((await listSteps(deps, runId)).run.writer).toBe('');
  await deliverAll(deps);
  await decideOn(deps, (await pendingApprovals(deps, runId))[0]);
  await deliverAll(deps);
  expect(await statuses(deps, runId)).toEqual(['canceled', 'succeeded']);
  expect(treeOf(runId)).toEqual([await stepAt(deps, runId, 1)]);
  await soundLog(deps, runId);
});

test('a running call is killed with the files that it left, and its siblings continue', async () => {
  const { began, execute } = waiting();
  const { deps, executions, treeOf } = inMemoryWorker(engine, { execute });
  const runId = await submit(deps, [[write, write], [read]]);
  await plan(deps, runId);
  const { job, cancel } = await begin(deps, runId, 0, began);
  await cancelAt(deps, runId, 0);
  expect(await statuses(deps, runId)).toEqual(['running', 'pending']);
  cancel();
  await job;
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect([run.status, ...steps.map(({ status }) => status)]).toEqual(['succeeded', 'killed', 'succeeded', 'succeeded']);
  expect(steps[0]).toMatchObject({
    snapshot: expect.any(String),
    outcome: { attempt: 1, error: { code: 'ECANCELED' } },
  });
  expect(steps[0]?.outcome?.error?.message).toContain('while it ran');
  expect(treeOf(runId)).toEqual(steps.slice(0, 2).map(({ id }) => id));
  expect(executions).toHaveLength(3);
  expect((await soundLog(deps, runId)).filter(({ type }) => type === 'workspace.leased')).toEqual([]);
});

test.each(['read', 'workspace', 'external'])(
  'a call with the effect %s whose worker died after the cancel never starts again',
  async (effect) => {
    const died = Promise.withResolvers<void>();
    const { deps, executions, treeOf } = inMemoryWorker(engine, {
      execute: async ({ attempt, stepId }) => {
        if (stepId !== first || attempt > 1) return;
        died.resolve();
        await new Promise(() => {});
      },
    });
    const runId = await submit(deps, [[{ args: { effect } }], [write]], rule('external', 'allow'));
    await plan(deps, runId);
    const first = await stepAt(deps, runId, 0);
    void handleStep(deps, { run_id: runId, step_id: first }, calm());
    await died.promise;
    await expect.poll(async () => (await statuses(deps, runId))[0]).toBe('running');
    await cancelAt(deps, runId, 0);
    await deps.queues.wakeStep({ id: runId }, first);
    await deliverAll(deps);
    const { run, steps } = await listSteps(deps, runId);
    expect([run.status, ...steps.map(({ status }) => status)]).toEqual(['succeeded', 'killed', 'succeeded']);
    expect(executions.filter(({ stepId }) => stepId === first)).toHaveLength(1);
    expect(treeOf(runId)).toEqual([steps[1]?.id]);
    const next = steps[0]?.outcome?.error?.next;
    expect(next?.includes('not known whether')).toBe(effect === 'external');
    await soundLog(deps, runId);
  },
);

test('a call with an unknown outcome is over, and its question with it', async () => {
  const { deps, executions } = inMemoryWorker(engine, {
    execute: () => {
      throw new Died();
    },
  });
  const runId = await submit(deps, [[external], [read]], rule('external', 'allow'));
  await plan(deps, runId);
  await handleStep(deps, { run_id: runId, step_id: await stepAt(deps, runId, 0) }, { ...calm(), lastTry: true });
  expect(await statuses(deps, runId)).toEqual(['indeterminate']);
  await cancelAt(deps, runId, 0);
  const { steps, approvals } = await listSteps(deps, runId);
  expect(steps[0]).toMatchObject({
    status: 'killed',
    outcome: { error: { next: expect.stringContaining('not known') } },
  });
  expect(approvals.map(({ status }) => status)).toEqual(['canceled']);
  expect(executions).toHaveLength(1);
  await soundLog(deps, runId);
});

test('calls side by side: the one that is canceled ends with its command, the others complete', async () => {
  const shell = (name: string) => ({ args: { effect: 'workspace', shell: name } });
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[shell('a'), shell('b')]], { concurrent: true });
  await plan(deps, runId);
  for (const at of [0, 1]) await handleStep(deps, { run_id: runId, step_id: await stepAt(deps, runId, at) }, calm());
  expect(await statuses(deps, runId)).toEqual(['deferred', 'deferred']);
  await cancelAt(deps, runId, 1);
  const tasks = await readTasks(deps.redis, runId);
  expect(tasks.map(({ kill }) => kill)).toEqual([undefined, 'ann']);
  expect(await statuses(deps, runId)).toEqual(['deferred', 'deferred']);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect([run.status, run.open_tasks, ...steps.map(({ status }) => status)]).toEqual([
    'succeeded',
    0,
    'succeeded',
    'killed',
  ]);
  expect(steps[1]?.outcome?.error).toMatchObject({ code: 'ECANCELED' });
  await soundLog(deps, runId);
});

test('a call that waits for its sub-agent ends when that is canceled', async () => {
  const plan = { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] };
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[{ args: { effect: 'read', agent: plan } }], [read]], hold('workspace'));
  await deliverAll(deps);
  expect(await statuses(deps, runId)).toEqual(['deferred']);
  await cancelAt(deps, runId, 0);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  const [task] = await readTasks(deps.redis, runId);
  expect([run.status, ...steps.map(({ status }) => status)]).toEqual(['succeeded', 'killed', 'succeeded']);
  expect((await listSteps(deps, task?.about.child ?? '')).run.status).toBe('canceled');
  await soundLog(deps, runId);
});

test('a call that waits for the command of another call leaves that alone', async () => {
  const background = { name: 'bg', args: { effect: 'workspace', background: 'hello' } };
  const awaits = { args: { effect: 'read', awaits: { $from: 'bg', pointer: '/task_id' } as never } };
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[background], [awaits]]);
  await plan(deps, runId);
  await handleStep(deps, { run_id: runId, step_id: await stepAt(deps, runId, 0) }, calm());
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  await handleStep(deps, { run_id: runId, step_id: await stepAt(deps, runId, 1) }, calm());
  expect(await statuses(deps, runId)).toEqual(['succeeded', 'deferred']);
  await cancelAt(deps, runId, 1);
  expect(await statuses(deps, runId)).toEqual(['succeeded', 'killed']);
  const [task] = await readTasks(deps.redis, runId);
  expect(task?.kill).toBeUndefined();
  await soundLog(deps, runId);
});

test('a second cancel changes nothing, and a call that was over before is refused', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[read, read]]);
  await plan(deps, runId);
  await cancelAt(deps, runId, 0);
  const { seq } = (await listSteps(deps, runId)).run;
  await requestCancelOfStep(deps, runId, await stepAt(deps, runId, 0), { by: 'bob' });
  expect((await listSteps(deps, runId)).run.seq).toBe(seq);
  await deliverAll(deps);
  await cancelAt(deps, runId, 0);
  await expect(cancelAt(deps, runId, 1)).rejects.toMatchObject({ code: 'step_settled' });
  await expect(requestCancelOfStep(deps, runId, 'step_none', ann)).rejects.toMatchObject({ code: 'step_not_found' });
});

test('a call of a paused run is over at once, and the run continues when it is resumed', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[write], [read]], hold('workspace'));
  await deliverAll(deps);
  await requestPause(deps, runId, 'test');
  await cancelAt(deps, runId, 0);
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run).toMatchObject({ status: 'paused', parked: 0, open: 0 });
  await requestResume(deps, runId, { by: 'test' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  expect(await statuses(deps, runId)).toEqual(['canceled', 'succeeded']);
  await soundLog(deps, runId);
});

test('the last call of an open run ends so, and so does one that waits behind it: the run waits for the next ones', async () => {
  const { began, execute } = waiting();
  const { deps, executions } = inMemoryWorker(engine, { execute });
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  await deliverAll(deps);
  const send = () => sendCalls(deps, runId, { calls: [{ tool: 'count', args: { effect: 'read' } }], by: 'test' });
  await send();
  await send();
  const { job, cancel } = await begin(deps, runId, 0, began);
  const received = (await readLog(deps.redis, runId)).filter((event) => event.type === 'calls.received');
  const behind = received.at(-1)?.data.steps[0] ?? '';
  await requestCancelOfStep(deps, runId, behind, ann);
  const { seq } = (await listSteps(deps, runId)).run;
  await requestCancelOfStep(deps, runId, behind, { by: 'bob' });
  expect((await listSteps(deps, runId)).run.seq).toBe(seq);
  expect((await readCalls(deps, runId, 2)).waiting).toMatchObject([{ id: behind, cancel: ann, isDropped: false }]);
  expect(await statuses(deps, runId)).toEqual(['running']);
  await cancelAt(deps, runId, 0);
  cancel();
  await job;
  await deliverAll(deps);
  const { run } = await listSteps(deps, runId);
  expect([run.status, ...(await statuses(deps, runId))]).toEqual(['waiting', 'killed', 'canceled']);
  expect((await listSteps(deps, runId)).steps[1]).toMatchObject({
    cancel: ann,
    outcome: {
      attempt: null,
      error: { code: 'ECANCELED', message: 'ann canceled this call before it ran. They say: not this one' },
    },
  });
  expect(executions).toHaveLength(1);
  await soundLog(deps, runId);
});

test('of the calls behind an earlier turn one is canceled, and its siblings are made in their order', async () => {
  const { began, execute } = waiting();
  const { deps, treeOf } = inMemoryWorker(engine, { execute });
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  await deliverAll(deps);
  const send = (...effects: string[]) =>
    sendCalls(deps, runId, { calls: effects.map((effect) => ({ tool: 'count', args: { effect } })), by: 'test' });
  await send('read');
  await send('workspace', 'workspace', 'workspace');
  await send('read');
  const { job, cancel } = await begin(deps, runId, 0, began);
  const { waiting: calls } = await readCalls(deps, runId, 2);
  await requestCancelOfStep(deps, runId, calls[1]?.id ?? '', ann);
  await cancelAt(deps, runId, 0);
  cancel();
  await job;
  await deliverAll(deps);
  expect(await statuses(deps, runId)).toEqual(['killed', 'succeeded', 'canceled', 'succeeded', 'succeeded']);
  expect(treeOf(runId)).toEqual([calls[0]?.id, calls[2]?.id]);
  await soundLog(deps, runId);
});

test('a call that waits is dropped with its canceled run, and a late cancel changes nothing', async () => {
  const { began, execute } = waiting();
  const { deps, executions } = inMemoryWorker(engine, { execute });
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  await deliverAll(deps);
  const send = () => sendCalls(deps, runId, { calls: [{ tool: 'count', args: { effect: 'read' } }], by: 'test' });
  for (let turn = 1; turn <= 3; turn++) await send();
  const { job, cancel } = await begin(deps, runId, 0, began);
  const behind = async (number: number) => (await readCalls(deps, runId, number)).waiting[0]?.id ?? '';
  await requestCancelOfStep(deps, runId, await behind(2), ann);
  await requestCancel(deps, runId, { by: 'test' });
  cancel();
  await job;
  await deliverAll(deps);
  const { seq, status } = (await listSteps(deps, runId)).run;
  expect(status).toBe('canceled');
  for (const number of [2, 3]) await requestCancelOfStep(deps, runId, await behind(number), ann);
  expect((await listSteps(deps, runId)).run.seq).toBe(seq);
  expect(executions).toHaveLength(1);
  await soundLog(deps, runId);
});

test('a scripted run stops at a canceled call unless its group says to continue', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[read], [read]]), by: 'test' });
  await plan(deps, runId);
  await cancelAt(deps, runId, 0);
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run).toMatchObject({ status: 'failed', reason: { code: 'ECANCELED' } });
});

test('the log says who canceled, and in which order it happened', async () => {
  const { began, execute } = waiting();
  const { deps } = inMemoryWorker(engine, { execute });
  const runId = await submit(deps, [[read]]);
  await plan(deps, runId);
  const { job, cancel } = await begin(deps, runId, 0, began);
  await cancelAt(deps, runId, 0);
  cancel();
  await job;
  const events = await soundLog(deps, runId);
  expect(typesOf(events, await stepAt(deps, runId, 0)).slice(-3)).toEqual([
    'step.started',
    'step.cancel_requested',
    'step.killed',
  ]);
  const request = events.find(({ type }) => type === 'step.cancel_requested');
  expect(request?.data).toEqual(ann);
});

test('a cancel of the run after that of a step ends both', async () => {
  const { began, execute } = waiting();
  const { deps } = inMemoryWorker(engine, { execute });
  const runId = await submit(deps, [[read, read]]);
  await plan(deps, runId);
  const { job, cancel } = await begin(deps, runId, 0, began);
  await cancelAt(deps, runId, 0);
  await requestCancel(deps, runId, { by: 'test' });
  await cancelAt(deps, runId, 1);
  cancel();
  await job;
  await deliverAll(deps);
  await sweepOnce(deps);
  const found = await readStep(deps.redis, runId, await stepAt(deps, runId, 1));
  expect([found?.run.status, ...(await statuses(deps, runId))]).toEqual(['canceled', 'killed', 'canceled']);
  await soundLog(deps, runId);
});
