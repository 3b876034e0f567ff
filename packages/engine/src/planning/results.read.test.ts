import { fixedTime, type Json, type RunSpec, type SettledCall } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun, requestCancel, requestPause, submitRun, undoSteps } from '../commands/index.ts';
import type { PlannerDecision } from '../ports/index.ts';
import { listResults, listSteps, presentStep } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

/** A contract that says everything about a call, times included. */
const present = ({ times, error, status, args, ...call }: SettledCall): Json =>
  JSON.parse(
    JSON.stringify({
      ...{ status, args, code: error?.code, value: call.value, edited: call.edited, instead: call.instead },
      ...{ times, settings: call.settings },
    }),
  );

interface Native {
  status: string;
  code?: string;
  value?: Json;
  args: Json;
  edited?: Json;
  instead?: string;
  times: SettledCall['times'];
  settings: Json;
}

const worker = (faults: Parameters<typeof inMemoryWorker>[1] = {}) => inMemoryWorker(engine, { present, ...faults });

async function started(deps: InMemoryWorker['deps'], spec: RunSpec): Promise<string> {
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return runId;
}

async function resultsOf(deps: InMemoryWorker['deps'], runId: string, spec: RunSpec): Promise<(Native | undefined)[]> {
  const { steps } = await listSteps(deps, runId);
  const results = await Promise.all(steps.map((step) => presentStep(deps, spec, step)));
  const listed = await listResults(deps, spec, steps);
  expect(listed).toEqual(results.map((json) => (json === undefined ? null : { json })));
  return results as unknown as (Native | undefined)[];
}

const held = (rule: object = {}) => ({ rules: [{ match: { effect: 'workspace' }, action: 'hold', ...rule }] });
const write = { args: { effect: 'workspace' } };
const read = { args: { effect: 'read' } };

test('a call that succeeded has the times of the log, and one that failed as well', async () => {
  const { deps } = worker();
  const spec = specOf([[read], [{ args: { effect: 'read', fail: true } }]], { settings: { limit: 5 } });
  const runId = await started(deps, spec);
  const [good, bad] = await resultsOf(deps, runId, spec);
  const log = await soundLog(deps, runId);
  const timeOf = (type: string) => log.find((event) => event.type === type)?.time;
  expect(good).toMatchObject({
    ...{ status: 'succeeded', args: read.args, settings: { limit: 5 } },
    times: {
      created_at: timeOf('step.created'),
      started_at: timeOf('step.started'),
      settled_at: timeOf('step.succeeded'),
    },
  });
  const { times } = good as Native;
  const between = (from: string | null, to: string | null) => Date.parse(to ?? '') - Date.parse(from ?? '');
  expect(times.duration_ms).toBe(between(times.started_at, times.settled_at));
  expect(times.queued_ms).toBe(between(timeOf('step.queued') ?? null, times.started_at));
  expect(bad).toMatchObject({ status: 'failed', code: expect.any(String) });
});

test('an unknown tool, and calls that the policy, a person or a deadline ended, never began and have a result', async () => {
  const { deps } = worker();
  const spec = specOf([[{ tool: 'nope', args: {} }], [{ args: { effect: 'external' } }], [write], [write]], {
    policy: { rules: [{ match: { effect: 'external' }, action: 'deny' }, ...held().rules] },
    onError: 'continue',
  });
  const runId = await started(deps, spec);
  const [rejected] = await pendingApprovals(deps, runId);
  await decideOn(deps, rejected, { decision: 'reject', message: 'no' });
  await deliverAll(deps);
  expect((await resultsOf(deps, runId, spec)).at(-1)).toBeUndefined();
  const [open] = await pendingApprovals(deps, runId);
  const late = { ...deps, now: () => Date.parse(open?.approval.request.expires_at ?? '') + 1 };
  const step = open?.approval.request.step_id ?? '';
  await deps.queues.wakeStep({ id: runId }, step);
  await deliverAll(late);
  const results = await resultsOf(deps, runId, spec);
  expect(results.map((one) => [one?.status, one?.code, one?.times.started_at, one?.times.duration_ms])).toEqual([
    ['failed', 'EUNKNOWNTOOL', null, 0],
    ['rejected', 'EPERMISSION', null, 0],
    ['rejected', 'EREJECTED', null, 0],
    ['expired', 'EEXPIRED', null, 0],
  ]);
  expect(results.map((one) => one?.times.queued_ms)).toEqual([0, 0, 0, 0]);
});

test('an edited call has what the caller wrote and what ran, and so has its copy in a fork', async () => {
  const { deps } = worker();
  const spec = specOf([[write, read]], { policy: held() });
  const runId = await started(deps, spec);
  const [view] = await pendingApprovals(deps, runId);
  const args = { effect: 'workspace', mark: 'edited' };
  await decideOn(deps, view, { decision: 'edit', args });
  await deliverAll(deps);
  const [edited] = await resultsOf(deps, runId, spec);
  expect(edited).toMatchObject({ status: 'succeeded', args: write.args, edited: args });
  const fork = await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'test' });
  expect((await resultsOf(deps, fork.runId, spec))[0]).toEqual(edited);
  await soundLog(deps, fork.runId);
});

test('calls that a cancel and an undo removed have a result', async () => {
  const { deps } = worker();
  const spec = specOf([[read], [write], [read]], { policy: held() });
  const runId = await started(deps, spec);
  await requestPause(deps, runId, 'test');
  const [before] = await resultsOf(deps, runId, spec);
  await undoSteps(deps, runId, { toStep: 0, keepExternalEffects: false, by: 'test' });
  const [undone, asked] = await resultsOf(deps, runId, spec);
  expect(undone).toEqual({ ...before, status: 'undone' });
  expect(asked).toMatchObject({ status: 'undone', times: { started_at: null } });
  await requestCancel(deps, runId, { by: 'test' });
  await deliverAll(deps);
  const other = await started(deps, spec);
  await requestCancel(deps, other, { by: 'test' });
  await deliverAll(deps);
  expect((await resultsOf(deps, other, spec))[1]).toMatchObject({ status: 'canceled', code: 'ECANCELED' });
});

test('a call whose worker was lost has the word of a person as its result', async () => {
  const faults = {
    execute: () => {
      throw Object.assign(new Error('lost'), { retryable: false });
    },
  };
  const { deps } = worker(faults);
  const spec = specOf([[{ args: { effect: 'external' } }]], { policy: { rules: [{ match: {}, action: 'allow' }] } });
  for (const [decision, expected] of [
    ['respond', { status: 'succeeded', instead: 'confirmed', value: { confirmed_by: 'ann', message: 'done' } }],
    ['reject', { status: 'failed', code: 'EDIDNOTHAPPEN' }],
  ] as const) {
    const runId = await started(deps, spec);
    expect(await resultsOf(deps, runId, spec)).toEqual([undefined]);
    const [view] = await pendingApprovals(deps, runId);
    await decideOn(deps, view, { decision, message: 'done' });
    await deliverAll(deps);
    expect(await resultsOf(deps, runId, spec)).toEqual([expect.objectContaining(expected)]);
  }
});

test('a reference reads the result of its step with the times that the log has, in a fork as well', async () => {
  const { deps } = worker();
  const spec = specOf([
    [{ name: 'a', ...read }],
    [{ args: { effect: 'read', got: { $from: 'a' } } }],
    [{ args: { effect: 'read', got: { $from: 'a', pointer: '/times/settled_at' } } }],
  ]);
  const runId = await started(deps, spec);
  const [first, second, third] = await resultsOf(deps, runId, spec);
  expect(second?.args).toMatchObject({ got: first });
  expect(third?.args).toMatchObject({ got: first?.times.settled_at });
  const fork = await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'test' });
  await deliverAll(deps);
  expect((await resultsOf(deps, fork.runId, spec))[0]?.args).toMatchObject({ got: first });
  await soundLog(deps, runId);
});

test('in a deterministic run the times are those of its clock', async () => {
  const { deps } = worker();
  const spec = specOf([[read]], { modes: { deterministic: true } });
  const [result] = await resultsOf(deps, await started(deps, spec), spec);
  const at = new Date(fixedTime).toISOString();
  const times = { created_at: at, started_at: at, settled_at: at, queued_ms: 0, duration_ms: 0 };
  expect(result?.times).toEqual(times);
});

const asking: RunSpec = { ...specOf([[read]]), goal: { planner: 'model', model: 'test/model', prompt: 'Go.' } };

test('a model reads the result, and one that repeats a call is seen although the times differ', async () => {
  const plain = worker();
  const read = new Set<string>();
  const model = {
    async next(input: Parameters<typeof plain.deps.planners.model.next>[0]): Promise<PlannerDecision> {
      for (const { steps } of (await input.history()).turns) {
        for (const { native } of steps) read.add((native as unknown as Native).times.settled_at);
      }
      const calls = [{ call_id: 'a', tool: 'count', args: { effect: 'read', fail: true } }];
      return { kind: 'calls', message: 'again', answer: {}, calls };
    },
  };
  let tick = Date.now();
  const now = () => ++tick;
  const deps = { ...plain.deps, now, planners: { ...plain.deps.planners, model } };
  const runId = await started(deps, asking);
  const { run, steps } = await listSteps(deps, runId);
  expect(run).toMatchObject({ status: 'paused', reason: { code: 'loop_repeated_calls' } });
  // The last result led to the pause and not to another turn.
  expect([...read]).toEqual(steps.slice(0, -1).map(({ settled_at }) => settled_at));
});

test('a plan continues without reading results that it does not name', async () => {
  const { deps } = worker();
  const read: string[] = [];
  const counted: typeof deps = {
    ...deps,
    executor: {
      ...deps.executor,
      execute: async () => ({ status: 'succeeded', value: { text: 'a word '.repeat(1000) } }),
    },
    blobs: {
      ...deps.blobs,
      get(sha256) {
        read.push(sha256);
        return deps.blobs.get(sha256);
      },
    },
  };
  const first = { name: 'first', args: { effect: 'read' } };
  const named = { args: { effect: 'read', mark: { $from: 'first', pointer: '/text' } } };
  const unnamed = await started(counted, specOf([[first], [{ args: { effect: 'read' } }]]));
  expect([read, (await listSteps(deps, unnamed)).steps.map(({ status }) => status)]).toEqual([
    [],
    ['succeeded', 'succeeded'],
  ]);
  await started(counted, specOf([[first], [named]]));
  expect(read).not.toEqual([]);
});
