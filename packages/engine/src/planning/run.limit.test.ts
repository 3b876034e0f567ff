import { type Json, limitsSchema, type ModelUsage, type RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { decideApproval, listApprovals } from '../approvals/index.ts';
import { requestCancel, requestPause, requestResume, retryRun, sendMessage, submitRun } from '../commands/index.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { readLog, repairsKey } from '../log/index.ts';
import type { PastTurn, Planner, PlannerDecision } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const write = { args: { effect: 'workspace' } };
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const ann = { by: 'ann' };

/** A run whose turns a function decides. */
async function modelRun(
  next: (turn: number, history: { turns: PastTurn[]; unread: string[] }) => PlannerDecision | Promise<PlannerDecision>,
  limits: object = {},
) {
  const made = inMemoryWorker(engine);
  const model: Planner = { next: async (input) => next(input.turn, await input.history()) };
  const deps: InMemoryWorker['deps'] = { ...made.deps, planners: { ...made.deps.planners, model } };
  const spec: RunSpec = {
    ...specOf([[write]]),
    goal: { planner: 'model', model: 'test/model', prompt: 'go' },
    limits: limitsSchema.parse(limits),
  };
  return { ...made, deps, runId: (await submitRun(deps, { spec, by: 'test' })).runId };
}
const calling = (args: Json, usage?: ModelUsage): PlannerDecision => ({
  ...{ kind: 'calls', message: 'on', answer: {}, calls: [{ tool: 'count', args }], usage },
});
const finish: PlannerDecision = { kind: 'finish', message: 'done', answer: {} };

test.each([
  ['max_steps', { max_steps: 2 }],
  ['max_tokens', { max_tokens: 25 }],
  ['max_cost_usd', { max_cost_usd: 0.001 }],
  ['max_turns', { max_turns: 2 }],
])('a run pauses at its limit %s, loses nothing, and each resume grants as much again', async (code, limits) => {
  const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4, cost_micros: 600 };
  const { deps, runId, tree } = await modelRun(
    (turn) => (turn > 5 ? finish : calling({ effect: 'workspace', n: turn }, usage)),
    limits,
  );
  const pauses: string[] = [];
  for (let round = 0; round < 9; round++) {
    await deliverAll(deps);
    const run = await runOf(runId);
    if (run.status !== 'paused') break;
    pauses.push(run.reason?.code ?? '');
    await requestResume(deps, runId, ann);
  }
  const used = { steps: 5, input_tokens: 50, cached_input_tokens: 20, cost_micros: 3000 };
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', ...used });
  expect(pauses).toEqual([code, code]);
  expect(tree).toHaveLength(5);
  await soundLog(engine.deps, runId);
});

test('wall time counts while the run is running, and not while it waits for a person', async () => {
  let clock = Date.now();
  const { deps, runId } = await modelRun((turn) => (turn > 3 ? finish : calling({ effect: 'external' })), {
    wall_s: 10,
  });
  const timed: InMemoryWorker['deps'] = { ...deps, now: () => clock };
  await deliverAll(timed);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting' });
  const waited = (await runOf(runId)).active_ms;
  clock += 3_600_000;
  await requestPause(timed, runId, 'ann');
  await requestResume(timed, runId, ann);
  expect((await runOf(runId)).active_ms).toBe(waited);
  await requestCancel(timed, runId, ann);

  const other = await modelRun(
    async (turn) => {
      clock += 4000;
      return turn > 9 ? finish : calling({ effect: 'read', n: turn });
    },
    { wall_s: 10 },
  );
  const ticking: InMemoryWorker['deps'] = { ...other.deps, now: () => clock };
  await deliverAll(ticking);
  expect(await runOf(other.runId)).toMatchObject({ status: 'paused', reason: { code: 'wall_s' }, turn: 3 });
  await requestResume(ticking, other.runId, ann);
  await deliverAll(ticking);
  expect(await runOf(other.runId)).toMatchObject({ status: 'paused', turn: 6 });
  await soundLog(engine.deps, other.runId);
});

test('a limit in dollars and a model without a price pauses before any call', async () => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const { deps, runId, executions } = await modelRun(() => calling({ effect: 'read' }, usage), { max_cost_usd: 1 });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'paused', reason: { code: 'cost_unknown' } });
  expect(executions).toEqual([]);
});

test.each([
  ['the same call with the same result', { effect: 'read' }, 'loop_repeated_calls', [4, 7]],
  ['calls that only fail', { effect: 'read', fail: true }, 'loop_only_failures', [8, 15]],
])(
  'a model that makes %s, again and again, is warned once, then the run pauses',
  async (_, args, code, [first, second]) => {
    const { deps, runId } = await modelRun(
      (turn) => (turn > 30 ? finish : calling({ ...args, ...(code === 'loop_only_failures' && { n: turn }) })),
      { loop_after: 4 },
    );
    const constant: InMemoryWorker['deps'] = {
      ...deps,
      executor: {
        ...deps.executor,
        execute: async ({ args: asked }) =>
          (asked as { fail?: boolean }).fail
            ? { status: 'failed', error: { code: 'ENO', message: 'no' } }
            : { status: 'succeeded', value: { found: 1, duration_ms: Math.random() } },
      },
    };
    await deliverAll(constant);
    expect(await runOf(runId)).toMatchObject({ status: 'paused', turn: first, reason: { code } });
    const events = await readLog(engine.deps.redis, runId);
    const warned = events.flatMap((one) => (one.type === 'turn.planned' && one.data.warned ? [one.data] : []));
    expect(warned).toMatchObject([{ turn: first, warned: expect.stringContaining('the run pauses') }]);
    await requestResume(constant, runId, ann);
    await deliverAll(constant);
    expect(await runOf(runId)).toMatchObject({ status: 'paused', turn: second });
    await soundLog(engine.deps, runId);
  },
);

test('a plan may say the same as often as it likes', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf(Array.from({ length: 12 }, () => [write])), by: 'test' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
});

test('a message is kept whenever it comes, is read at the next turn, and none is missed by a model that ends', async () => {
  const readMessages: string[][] = [];
  const late: (() => Promise<void>)[] = [];
  const { deps, runId } = await modelRun(async (turn, { turns, unread }) => {
    readMessages.push([...turns.flatMap((one) => one.readMessages), '|', ...unread]);
    // A message arrives while the model decides to end.
    if (turn === 2) await late.shift()?.();
    return turn === 1 ? calling({ effect: 'read' }) : finish;
  });
  late.push(async () => void (await sendMessage(deps, runId, { text: 'and c', by: 'ann' })));
  await sendMessage(deps, runId, { text: 'a', by: 'ann', key: 'k' });
  const again = await sendMessage(deps, runId, { text: 'a', by: 'ann', key: 'k' });
  expect(again.created).toBe(false);
  await expect(sendMessage(deps, runId, { text: 'b', by: 'ann', key: 'k' })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
  await deliverAll(deps);
  expect(readMessages).toEqual([
    ['|', 'a'],
    ['a', '|'],
    ['a', '|', 'and c'],
  ]);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', turn: 3, messages: 2, messages_read: 2 });
  const after = sendMessage(deps, runId, { text: 'too late', by: 'ann' });
  await expect(after).rejects.toMatchObject({ code: 'run_not_active' });
  await soundLog(engine.deps, runId);
});

test('several questions at once each get their own answer', async () => {
  const { deps, runId } = await modelRun((turn) =>
    turn > 1
      ? finish
      : {
          kind: 'calls',
          message: 'ask',
          answer: {},
          calls: ['x', 'y', 'z'].map((name) => ({ tool: 'count', args: { effect: 'read', gate: 'input', name } })),
        },
  );
  await deliverAll(deps);
  const { items } = await listApprovals(deps, { run_id: runId }, { limit: 9 });
  expect(items).toHaveLength(3);
  const { decideApproval } = await import('../approvals/decide-approval.ts');
  await Promise.all(
    items.map((view) =>
      decideApproval(deps, view.approval.id, {
        ...{ decision: 'respond', action_digest: view.digest, by: 'ann' },
        message: view.subject === 'step' ? `to ${(view.args as { name: string }).name}` : '',
      }),
    ),
  );
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(run.status).toBe('succeeded');
  expect(steps.map(({ outcome }) => outcome?.value)).toEqual(
    ['x', 'y', 'z'].map((name) => ({ json: { answer: `to ${name}` } })),
  );
});

test('a failed run is retried from the step that failed, and what came before it is not made again', async () => {
  let broken = true;
  const { deps, tree, executions } = inMemoryWorker(engine);
  const execute: InMemoryWorker['deps']['executor']['execute'] = async (call, context) => {
    const outcome = await deps.executor.execute(call, context);
    const isLast = (call.args as { last?: boolean }).last === true;
    return isLast && broken ? { status: 'failed', error: { code: 'EBROKEN', message: 'broken' } } : outcome;
  };
  const failing: InMemoryWorker['deps'] = { ...deps, executor: { ...deps.executor, execute } };
  const { runId } = await submitRun(failing, {
    spec: specOf([[write], [write, { args: { effect: 'workspace', last: true } }], [write]]),
    by: 'test',
  });
  await deliverAll(failing);
  expect(await runOf(runId)).toMatchObject({ status: 'failed' });
  broken = false;
  const undone = await retryRun(failing, runId, { keepExternalEffects: false, by: 'ann' });
  expect(undone).toHaveLength(1);
  await deliverAll(failing);
  const { run, steps } = await listSteps(failing, runId);
  expect(run).toMatchObject({ status: 'succeeded', lease: 2 });
  expect(run.reason).toBeUndefined();
  expect(steps.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'undone', 'succeeded', 'succeeded']);
  expect(tree).toHaveLength(4);
  expect(executions).toHaveLength(5);
  const ended = retryRun(failing, runId, { keepExternalEffects: false, by: 'ann' });
  await expect(ended).rejects.toMatchObject({ code: 'run_not_retryable' });
  await soundLog(engine.deps, runId);
});

test('a canceled run can be retried from any of its steps', async () => {
  const { deps, tree } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, {
    spec: specOf([[write], [{ args: { effect: 'external' } }], [write]]),
    by: 'test',
  });
  await deliverAll(deps);
  await requestCancel(deps, runId, ann);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'canceled' });
  await retryRun(deps, runId, { fromStep: 1, keepExternalEffects: false, by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', parked: 1 });
  expect(tree).toHaveLength(1);
  await soundLog(engine.deps, runId);
});

test('a run does not continue with changed tools unless a person accepts them', async () => {
  const faults = { version: '1' };
  const { deps, executions } = inMemoryWorker(engine, faults);
  const { runId } = await submitRun(deps, { spec: specOf([[write], [write]]), by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  faults.version = '2';
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({
    ...{ status: 'paused', reason: { code: 'tools_changed', message: expect.stringContaining('changed: count') } },
  });
  expect(executions).toEqual([]);
  const before = await readLog(deps.redis, runId);
  await expect(requestResume(deps, runId, ann)).rejects.toMatchObject({ code: 'tools_changed' });
  expect(await readLog(deps.redis, runId)).toEqual(before);
  await requestResume(deps, runId, { by: 'ann', acceptNewVersion: true });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', tools: { count: '2' } });
  await soundLog(engine.deps, runId);
});

test('an external call in doubt is shown with everything that is known of it', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const policy = { rules: [{ match: {}, action: 'allow' }] };
  const { runId } = await submitRun(deps, {
    spec: specOf([[{ args: { effect: 'external' } }]], { policy }),
    by: 'test',
  });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const stepId = (await listSteps(deps, runId)).steps[0]?.id ?? '';
  const execute: InMemoryWorker['deps']['executor']['execute'] = async (call, context) => {
    await deps.executor.execute(call, context);
    context.onConnection({ host: 'a.test', port: 443, verdict: 'allowed', bytes_up: 7, bytes_down: 0, duration_ms: 1 });
    return new Promise(() => {});
  };
  // This worker is lost in the middle of the call.
  void handleStep({ ...deps, executor: { ...deps.executor, execute } }, { run_id: runId, step_id: stepId }, calm());
  const told = async () => (await readLog(deps.redis, runId)).some(({ type }) => type === 'network.connected');
  await expect.poll(told).toBe(true);
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  expect(view?.approval.request).toMatchObject({
    kind: 'indeterminate',
    preview: {
      json: {
        ...{ tool: 'count', attempt: 1, worker: 'test-worker', idempotency_key: stepId },
        lost_because: { code: 'EWORKERLOST' },
        connections: [{ host: 'a.test', port: 443, verdict: 'allowed', bytes_up: 7 }],
      },
    },
  });
  expect(executions).toHaveLength(1);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', lease: 2 });
  await soundLog(engine.deps, runId);
});

test('a stuck run is found, named, recorded, counted and repaired', async () => {
  const { deps } = inMemoryWorker(engine);
  const seen: string[] = [];
  const counted = { ...deps, metrics: { repaired: (what: string) => void seen.push(what) } };
  const later = { ...counted, now: () => Date.now() + 10_000 };
  const { runId: queued } = await submitRun(deps, { spec: specOf([[write]]), by: 'test' });
  await deps.queues.turns.obliterate({ force: true });
  await sweepOnce(counted);
  expect(seen).toEqual([]);
  await deps.queues.turns.obliterate({ force: true });
  await sweepOnce(later);
  expect(seen).toEqual(['queued_without_job']);
  await deliverAll(deps);
  expect(await runOf(queued)).toMatchObject({ status: 'succeeded' });

  // The next group of a plan is recorded with the outcome: only model runs enqueue a turn job.
  const { deps: model, runId } = await modelRun((turn) => (turn > 1 ? finish : calling({ effect: 'workspace' })));
  await handleTurn(model, { run_id: runId, turn: 1 }, calm());
  await deps.queues.steps.obliterate({ force: true });
  await deps.queues.turns.obliterate({ force: true });
  await sweepOnce(later);
  expect(seen.slice(1)).toEqual(['queued_without_job']);
  const stepId = (await listSteps(deps, runId)).steps[0]?.id ?? '';
  await handleStep(deps, { run_id: runId, step_id: stepId }, calm());
  await deps.queues.steps.obliterate({ force: true });
  await deps.queues.turns.obliterate({ force: true });
  await sweepOnce(later);
  expect(seen.slice(2)).toEqual(['turn_without_successor']);
  await deliverAll(model);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
  const events = await soundLog(engine.deps, runId);
  const repairs = events.flatMap((event) => (event.type === 'run.repaired' ? [event.data.class] : []));
  expect(repairs).toEqual(['queued_without_job', 'turn_without_successor']);
  expect(await engine.deps.redis.hgetall(repairsKey)).toEqual({ queued_without_job: '2', turn_without_successor: '1' });
});

test('the job of a step that a decider settled just before it died does not sleep until its deadline', async () => {
  const { deps } = inMemoryWorker(engine);
  const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] };
  const { runId } = await submitRun(deps, { spec: specOf([[write], [write]], { policy }), by: 'test' });
  await deliverAll(deps);
  const decide = async (dying: InMemoryWorker['deps']) => {
    const [view] = await pendingApprovals(deps, runId);
    const decision = { decision: 'reject', action_digest: view?.digest ?? '', by: 'ann' } as const;
    await decideApproval(dying, view?.approval.id ?? '', decision);
    return view?.approval.request.step_id;
  };
  const wakeDecided = () => Promise.reject(new Error('killed between the decision and its wake-up'));
  const stepId = await decide({ ...deps, queues: { ...deps.queues, wakeDecided } });
  await sweepOnce(deps);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'failed' });
  const asleep = async () => (await deps.queues.steps.getDelayed()).map(({ data }) => data.step_id);
  expect(await asleep()).toEqual([stepId]);
  // While the run has recent events, the process that decided may be about to wake it.
  await sweepOnce(deps);
  expect(await asleep()).toEqual([stepId]);
  await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  expect(await asleep()).toEqual([]);
  await deliverAll(deps);
  const events = await soundLog(engine.deps, runId);
  expect(events.at(-1)).toMatchObject({
    type: 'run.repaired',
    data: { class: 'orphaned_delayed_job', subject: stepId },
  });
  // One that is to be tried again in a moment is not stuck.
  const job = { run_id: runId, step_id: stepId ?? '' };
  await deps.queues.steps.add('step', job, { jobId: job.step_id, delay: 30_000 });
  await engine.deps.redis.hset(deps.queues.steps.toKey(job.step_id), 'atm', 1);
  await sweepOnce({ ...deps, now: () => Date.now() + 20_000 });
  expect(await asleep()).toEqual([stepId]);
  expect(await soundLog(engine.deps, runId)).toEqual(events);
});

test('tokens of an answer that was withheld count, and another model plans the turn', async () => {
  const usage = { input_tokens: 30, output_tokens: 4, cost_micros: 7 };
  const at = new Date(0).toISOString();
  const reason = { code: 'EMODELPOLICY', message: 'withheld', next: '' };
  let asked = 0;
  const { deps, runId } = await modelRun(() => {
    asked += 1;
    const retrying = {
      model: 'test/model',
      next: 'test/b',
      failures: 1,
      tries: 1,
      since: at,
      until: at,
      reason,
      usage,
    };
    return asked === 1 ? { kind: 'retrying', retrying } : finish;
  });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', input_tokens: 30, output_tokens: 4, cost_micros: 7 });
  await soundLog(engine.deps, runId);
});
