import type { LoggedEvent } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { decideApproval } from '../approvals/index.ts';
import {
  requestCancel,
  requestDiscarding,
  requestPause,
  requestPublication,
  requestResume,
  sendMessage,
  submitRun,
} from '../commands/index.ts';
import { startAttempt } from '../domain/index.ts';
import { append, readLog, readStep } from '../log/index.ts';
import type { Planner } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { Died, deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog as checkLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTurn } from './handle-turn.ts';
import { handleWorkspace } from './handle-workspace.ts';

const engine = useTestEngine();

const read = (name?: string) => ({ name, args: { effect: 'read' } });
const write = (name?: string) => ({ name, args: { effect: 'workspace' } });
const external = () => ({ args: { effect: 'external' } });
const ask = () => ({ args: { effect: 'read', gate: 'input' } });
const holdWrites = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } };

const submit = async (deps: InMemoryWorker['deps'], spec: ReturnType<typeof specOf>) =>
  (await submitRun(deps, { spec, by: 'test' })).runId;

const soundLog = (runId: string) => checkLog(engine.deps, runId);
const types = (events: LoggedEvent[]) => events.map((event) => event.type);
const statusOf = async (runId: string) => (await listSteps(engine.deps, runId)).run.status;
const pending = async (runId: string) =>
  (await pendingApprovals(engine.deps, runId)).filter((view) => view.subject === 'step');

test('a run goes through its groups by its own wake-ups alone, and each step runs once', async () => {
  const { deps, tree, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[read('a'), write('b'), read()], [write('c')], [read()]]));
  await deliverAll(deps);
  expect(await statusOf(runId)).toBe('succeeded');
  const events = await soundLog(runId);
  expect(types(events).slice(0, 4)).toEqual(['run.created', 'workspace.materialised', 'run.started', 'turn.planned']);
  expect(types(events).filter((type) => type === 'step.succeeded')).toHaveLength(5);
  expect(executions.map((execution) => execution.attempt)).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(tree).size).toBe(2);
});

test('the calls of a group that write run in order, and no read overtakes them', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[write('first'), read('free'), write('second')]]));
  await deliverAll(deps);
  const events = await soundLog(runId);
  const { steps } = await listSteps(deps, runId);
  const at = (type: LoggedEvent['type'], name: string) => {
    const id = steps.find((step) => step.call.name === name)?.id;
    return events.find((event) => event.type === type && 'step_id' in event && event.step_id === id)?.seq ?? Number.NaN;
  };
  expect(at('step.queued', 'free')).toBeGreaterThan(at('step.succeeded', 'first'));
  expect(at('step.queued', 'second')).toBeGreaterThan(at('step.succeeded', 'free'));
});

test('a failed group stops the plan, unless it says to continue', async () => {
  const { deps } = inMemoryWorker(engine);
  const failing = { args: { effect: 'read', fail: true } };
  const stopped = await submit(deps, specOf([[failing], [read()]]));
  const going = await submit(deps, specOf([[failing], [read()]], { onError: 'continue' }));
  await deliverAll(deps);
  expect((await listSteps(deps, stopped)).run).toMatchObject({ status: 'failed', turn: 1, reason: { code: 'EASKED' } });
  expect((await listSteps(deps, going)).run).toMatchObject({ status: 'succeeded', turn: 2 });
});

test('an unknown tool, or a reference to nothing, is an error for the planner, and nothing runs', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const missing = { args: { effect: 'read', wanted: { $from: 'a', pointer: '/nowhere' } as never } };
  const runId = await submit(
    deps,
    specOf([[read('a'), { tool: 'none', args: {} }], [missing]], { onError: 'continue' }),
  );
  await deliverAll(deps);
  const { steps, run } = await listSteps(deps, runId);
  expect(steps.map((step) => step.outcome?.error?.code)).toEqual([undefined, 'EUNKNOWNTOOL', 'EREFERENCE']);
  expect(run.status).toBe('succeeded');
  expect(executions).toHaveLength(1);
});

test('a parked step holds no wake-up that would run it, and nothing runs before its decision', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[write()]], holdWrites));
  await deliverAll(deps);
  expect(await statusOf(runId)).toBe('waiting');
  expect(executions).toHaveLength(0);
  const [view] = await pending(runId);
  const job = await deps.queues.steps.getJob(view?.step.id ?? '');
  expect(await job?.getState()).toBe('delayed');
  await job?.promote();
  await deliverAll(deps);
  expect(executions).toHaveLength(0);
  await soundLog(runId);
});

test.each([
  { decision: 'approve', status: 'succeeded', code: undefined, ran: 1 },
  { decision: 'reject', status: 'rejected', code: 'EREJECTED', ran: 0 },
  { decision: 'respond', status: 'rejected', code: 'ERESPONDED', ran: 0 },
  { decision: 'edit', status: 'succeeded', code: undefined, ran: 1 },
] as const)('$decision → $status', async ({ decision, status, code, ran }) => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[write()]], { ...holdWrites, onError: 'continue' }));
  await deliverAll(deps);
  const [view] = await pending(runId);
  if (!view) throw new Error('nothing is parked');
  const edited = decision === 'edit' ? { args: { effect: 'workspace', note: 'other' } } : {};
  const message = decision === 'respond' || decision === 'reject' ? { message: 'do it so' } : {};
  const request = { decision, action_digest: view.digest, by: 'ann', ...edited, ...message };
  await decideApproval(deps, view.approval.id, request);
  await decideApproval(deps, view.approval.id, request);
  await deliverAll(deps);
  const { steps, run } = await listSteps(deps, runId);
  expect(steps[0]).toMatchObject({ status });
  expect(steps[0]?.outcome?.error?.code).toBe(code);
  expect(executions).toHaveLength(ran);
  expect(run.status).toBe('succeeded');
  if (decision === 'edit') expect(steps[0]?.args).toEqual({ json: { effect: 'workspace', note: 'other' } });
  await soundLog(runId);
});

test('the answer to a question is the result of its step', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[ask()]]));
  await deliverAll(deps);
  const [view] = await pending(runId);
  const decide = (decision: 'approve' | 'respond') => decideOn(deps, view, { decision, message: 'blue' });
  await expect(decide('approve')).rejects.toMatchObject({ code: 'decision_not_allowed' });
  await decide('respond');
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).steps[0]).toMatchObject({
    status: 'succeeded',
    outcome: { attempt: null, value: { json: { answer: 'blue' } } },
  });
  expect(executions).toHaveLength(0);
});

test('of racing deciders exactly one wins; the others hear that it is decided', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[write()]], { ...holdWrites, onError: 'continue' }));
  await deliverAll(deps);
  const [view] = await pending(runId);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      decideOn(deps, view, {
        decision: index % 2 === 0 ? 'approve' : 'reject',
        message: `decider ${index}`,
        by: `decider ${index}`,
      }),
    ),
  );
  const lost = results.filter((result) => result.status === 'rejected');
  expect(lost).toHaveLength(7);
  for (const { reason } of lost) expect(reason).toMatchObject({ code: 'already_decided' });
  await deliverAll(deps);
  const events = await soundLog(runId);
  const decided = events.filter((event) => event.type === 'approval.decided');
  expect(decided).toHaveLength(1);
  expect(executions).toHaveLength(decided[0]?.data.decision === 'approve' ? 1 : 0);
});

test('a stale digest is a conflict and changes nothing: a background command changed the files under a parked call', async () => {
  let parkedFirst: Awaited<ReturnType<typeof pending>>[number] | undefined;
  const { deps } = inMemoryWorker(engine, {
    task: async () => {
      [parkedFirst] = await pending(runId);
    },
  });
  const background = { args: { effect: 'read', background: 'beside' } };
  const runId = await submit(deps, specOf([[background], [write()]], holdWrites));
  await deliverAll(deps);
  const before = await readLog(deps.redis, runId, { limit: 1000 });
  const decide = decideOn(deps, parkedFirst);
  await expect(decide).rejects.toMatchObject({ code: 'action_changed' });
  expect(await readLog(deps.redis, runId, { limit: 1000 })).toEqual(before);
});

async function deliverTurnOnly(deps: InMemoryWorker['deps']): Promise<void> {
  const [job] = await deps.queues.turns.getJobs(['waiting', 'prioritized']);
  if (!job) return;
  await handleTurn(deps, job.data, calm());
  await job.remove();
}

test('an undecided approval expires, and the run continues without the step', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const policy = { ...holdWrites.policy, approval_timeout_s: 60 };
  const runId = await submit(deps, specOf([[write()], [read()]], { policy, onError: 'continue' }));
  await deliverAll(deps);
  const [view] = await pending(runId);
  const later = { ...deps, now: () => Date.now() + 61_000 };
  await deps.queues.wakeStep({ id: runId }, view?.step.id ?? '');
  await deliverAll(later);
  expect((await listSteps(deps, runId)).steps[0]).toMatchObject({
    status: 'expired',
    outcome: { attempt: null, error: { code: 'EEXPIRED' } },
  });
  expect(executions).toHaveLength(1);
  const late = decideOn(deps, view);
  await expect(late).rejects.toMatchObject({ code: 'already_decided' });
  await soundLog(runId);
});

test('a cancel closes what is parked and what waits; nothing of the run starts any more', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[write(), write(), ask()]], holdWrites));
  await deliverAll(deps);
  await requestCancel(deps, runId, { by: 'ann' });
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const { run, steps, approvals } = await listSteps(deps, runId);
  expect(run.status).toBe('canceled');
  expect(steps.map((step) => step.status)).toEqual(['canceled', 'canceled', 'canceled']);
  expect(new Set(approvals.map((approval) => approval.status))).toEqual(new Set(['canceled']));
  expect(executions).toHaveLength(0);
  await soundLog(runId);
});

test('a final infrastructure error pauses the run; a resume continues it', async () => {
  let broken = true;
  const { deps, executions } = inMemoryWorker(engine, {
    execute: () => {
      if (broken) throw Object.assign(new Error('no sandbox'), { code: 'ENOSANDBOX', retryable: false });
    },
  });
  const runId = await submit(deps, specOf([[write()], [read()]]));
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run).toMatchObject({ status: 'paused', reason: { code: 'ENOSANDBOX' } });
  broken = false;
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await statusOf(runId)).toBe('succeeded');
  expect(executions.map((execution) => execution.attempt)).toEqual([1, 2, 1]);
  await soundLog(runId);
});

test('a model that never ends pauses at its limit of turns; each resume grants as many again', async () => {
  const { deps } = inMemoryWorker(engine);
  const endless: Planner = {
    next: async () => ({ kind: 'calls', message: 'again', calls: [{ tool: 'count', args: { effect: 'read' } }] }),
  };
  const worker = { ...deps, planners: { ...deps.planners, model: endless } };
  const spec = {
    ...specOf([[read()]]),
    goal: { planner: 'model', model: 'test/endless', prompt: 'continue' } as const,
  };
  const runId = await submit(deps, { ...spec, limits: { ...spec.limits, max_turns: 3 } });
  for (const turns of [3, 6]) {
    await deliverAll(worker);
    expect((await listSteps(deps, runId)).run).toMatchObject({
      status: 'paused',
      turn: turns,
      reason: { code: 'max_turns' },
    });
    await requestResume(deps, runId, { by: 'ann' });
  }
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(worker);
  expect(await statusOf(runId)).toBe('canceled');
  await soundLog(runId);
});

test('an external effect in doubt is never run again by itself: a person decides', async () => {
  let dies = true;
  const { deps, executions } = inMemoryWorker(engine, {
    execute: () => {
      if (dies) throw new Died();
    },
  });
  const policy = { rules: [{ match: {}, action: 'allow' }] };
  const runId = await submit(deps, specOf([[external()]], { policy }));
  await deliverAll(deps);
  await sweepOnce(deps);
  const [view] = await pending(runId);
  expect(view?.step.status).toBe('indeterminate');
  expect(executions).toHaveLength(1);
  dies = false;
  await decideOn(deps, view);
  await deliverAll(deps);
  expect(executions.map((execution) => execution.attempt)).toEqual([1, 2]);
  expect(await statusOf(runId)).toBe('succeeded');
  await soundLog(runId);
});

test('what is asked for while a publication is just being finished is done, too', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, specOf([[read()]]));
  await deliverAll(deps);
  await requestPublication(deps, runId, { by: 'ann', message: 'first' });
  const conflict = { status: 'conflict', conflicts: [] } as const;
  // The request comes at the last moment at which the first job's id is still taken: its own job is not added.
  const redis = new Proxy(deps.redis, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (key === 'zrem' && (await publicationOf(runId)) === 'conflicted')
          await requestDiscarding(deps, runId, 'ann');
        return Reflect.apply(value, target, args);
      };
    },
  });
  const worker = { ...deps, redis, workspaces: { ...deps.workspaces, publish: async () => conflict } };
  await handleWorkspace(worker, { run_id: runId }, calm());
  expect(await publicationOf(runId)).toBe('discarded');
  await soundLog(runId);
});

const publicationOf = async (runId: string) => (await listSteps(engine.deps, runId)).run.publication;

test('a worker that was presumed dead does not disturb its successor', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { deps, tree, executions } = inMemoryWorker(engine);
  const execute: InMemoryWorker['deps']['executor']['execute'] = async (call, context) => {
    const outcome = await deps.executor.execute(call, context);
    started[context.attempt - 1]?.resolve();
    await gates[context.attempt - 1]?.promise;
    return outcome;
  };
  const held = { ...deps, executor: { ...deps.executor, execute } };
  const runId = await submit(deps, specOf([[write()]]));
  await deliverTurnOnly(deps);
  const [job] = await deps.queues.steps.getJobs(['waiting', 'prioritized']);
  if (!job) throw new Error('no step job');
  const context = calm();

  const stopped = handleStep(held, job.data, context);
  await started[0]?.promise;
  const successor = deliverAll(held);
  await started[1]?.promise;
  const before = await readLog(deps.redis, runId, { limit: 1000 });
  gates[0]?.resolve();
  await stopped;
  expect(await readLog(deps.redis, runId, { limit: 1000 })).toEqual(before);
  gates[1]?.resolve();
  await successor;

  expect(executions.map((execution) => execution.attempt)).toEqual([1, 2]);
  const { steps } = await listSteps(deps, runId);
  expect(steps[0]).toMatchObject({ status: 'succeeded', attempt: 2 });
  expect(tree).toEqual([job.data.step_id]);
  await soundLog(runId);
});

test.each(['a worker that died', 'a message'])(
  'what a worker remembers of a step is worth nothing after %s',
  async (what) => {
    const { deps, executions } = inMemoryWorker(engine);
    const runId = await submit(deps, specOf([[read()], [read()]]));
    await deliverTurnOnly(deps);
    const stepOf = async (at: number) => (await listSteps(deps, runId)).steps[at]?.id ?? '';
    const context = calm();
    await handleStep(deps, { run_id: runId, step_id: await stepOf(0) }, context);
    // The second step was planned with the outcome of the first, and how it stands is known here.
    const stepId = await stepOf(1);
    const found = await readStep(deps.redis, runId, stepId);
    if (!found) throw new Error('it was not planned');
    if (what === 'a message') await sendMessage(deps, runId, { text: 'hello', by: 'ann' });
    else expect(await append(deps, runId, startAttempt(found.run, found.step, 'other'))).toMatchObject({ ok: true });
    await handleStep(deps, { run_id: runId, step_id: stepId }, context);
    // A read begins before its start is recorded. The result of the one that was refused is thrown away.
    const last = what === 'a message' ? 1 : 2;
    expect(executions.map(({ attempt }) => attempt)).toEqual([1, 1, last]);
    const log = (await readLog(deps.redis, runId)).filter((event) => 'step_id' in event && event.step_id === stepId);
    const ends = log.flatMap(({ type, data }) => (type === 'step.succeeded' ? [data.attempt] : []));
    expect(ends).toEqual([last]);
    expect((await listSteps(deps, runId)).steps.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    await soundLog(runId);
  },
);

test('nor is it after a resume, which grants the limits again', async () => {
  const { deps } = inMemoryWorker(engine);
  const three = specOf([[read()], [read()], [read()]]);
  const runId = await submit(deps, { ...three, limits: { ...three.limits, max_steps: 2 } });
  await deliverTurnOnly(deps);
  const context = calm();
  const [first] = (await listSteps(deps, runId)).steps;
  await handleStep(deps, { run_id: runId, step_id: first?.id ?? '' }, context);
  await requestPause(deps, runId, 'ann');
  await requestResume(deps, runId, { by: 'ann' });
  const second = (await listSteps(deps, runId)).steps[1];
  await handleStep(deps, { run_id: runId, step_id: second?.id ?? '' }, context);
  const { run, steps } = await listSteps(deps, runId);
  expect(run).toMatchObject({ status: 'running', turn: 3 });
  expect(steps).toHaveLength(3);
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis loses nothing and doubles nothing',
  async (when) => {
    const groups = [[read('a'), write('b'), write('c')], [write('d')]];
    const points = killPoints();
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      const { deps, tree } = inMemoryWorker(engine);
      const runId = await submit(deps, specOf(groups));
      const dying = dyingAt(deps, commands, when);
      // One process serves deliveries until it dies; another takes over.
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      await sweepOnce(deps);
      await deliverAll(deps);
      faulted = dying.died();
      expect(await statusOf(runId), `death at command ${commands}`).toBe('succeeded');
      const { steps } = await listSteps(deps, runId);
      const writes = steps.filter((step) => step.effect === 'workspace').map((step) => step.id);
      expect(tree, `death at command ${commands}`).toEqual(writes);
      await soundLog(runId);
    }
    expect(commands).toBeGreaterThan(30);
  },
);
