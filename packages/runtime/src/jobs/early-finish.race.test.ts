import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, listSteps, specOf, startTestEngine, type TestEngine } from '@holdpoint/engine/testing';
import {
  handleStep,
  handleTurn,
  type JobContext,
  queuePrefix,
  type StepJob,
  type TurnJob,
  type WorkerDeps,
  wakeMissed,
} from '@holdpoint/engine/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorker } from './open-worker.ts';
import type { JobKind } from './processor.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
  // A script that the server does not know is sent again, after later commands.
  const { deps } = inMemoryWorker(engine);
  await planned(deps, 1);
  await handleJobs(deps, 1, handleStep);
});
afterAll(() => engine.stop());

const context = (): JobContext => ({ signal: new AbortController().signal, lastTry: false });

/** A run whose first turn is planned: the jobs of its reads wait. */
async function planned(deps: WorkerDeps, reads: number): Promise<string> {
  await deps.redis.flushall();
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const group = Array.from({ length: reads }, () => ({ args: { effect: 'read' } }));
  const { runId } = await runs.submit({ spec: specOf([group, [{ args: { effect: 'read' } }]]) });
  await handleTurn(deps, { run_id: runId, turn: 1 }, context());
  return runId;
}

const statusesOf = async (deps: WorkerDeps, runId: string) =>
  (await listSteps(deps, runId)).steps.map(({ status }) => status);

/** Takes one job at a time until this many were handled. */
async function handleJobs(
  deps: WorkerDeps,
  jobs: number,
  handle: JobKind<StepJob>['handle'],
): Promise<{ left: number }> {
  const enough = Promise.withResolvers<void>();
  let handled = 0;
  const counting: JobKind<StepJob>['handle'] = async (...args) => {
    try {
      return await handle(...args);
    } finally {
      if (++handled === jobs) enough.resolve();
    }
  };
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null, commandTimeout: undefined });
  const again: JobKind<StepJob>['again'] = (one, { run_id: id, step_id }) => one.queues.wakeStep({ id }, step_id);
  const kind = { handle: counting, wakeMissed: wakeMissed.step, again, takesNextStep: true };
  const { worker, looked } = openWorker<StepJob>(deps, queueNames.steps, kind, { connection, prefix: queuePrefix });
  await enough.promise;
  await worker.close();
  await looked();
  connection.disconnect();
  return { left: await deps.queues.steps.getActiveCount() };
}

/** A run of a model that makes one call that reads in each of two turns, with the job of its first turn. */
async function modelRun(inMemory: WorkerDeps): Promise<{ deps: WorkerDeps; runId: string }> {
  const calls = [{ tool: 'count', args: { effect: 'read' } }];
  const next = async ({ turn }: { turn: number }) =>
    turn > 2
      ? ({ kind: 'finish', message: 'done', answer: 'done' } as const)
      : ({ kind: 'calls', message: 'count', calls } as const);
  const deps = { ...inMemory, planners: { ...inMemory.planners, model: { next } } };
  await deps.redis.flushall();
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const spec = specOf([[{ args: {} }]]);
  const goal = { planner: 'model', model: 'test', prompt: 'count' } as const;
  return { deps, runId: (await runs.submit({ spec: { ...spec, goal } })).runId };
}

test('the outcome of a step, the job of the next and the end of its own job leave together, and the worker gets the next job', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await planned(deps, 1);
  const ended: boolean[] = [];
  const { left } = await handleJobs(deps, 2, async (...[one, job, context]) => {
    const end = await handleStep(one, job, context);
    // The next job has been fetched with the end of this one: it is active while this handler has not returned.
    ended.push((await one.queues.steps.getJob(job.step_id)) === undefined);
    return end;
  });
  expect(ended).toEqual([true, false]);
  expect(left).toBe(0);
  expect(await statusesOf(deps, runId)).toEqual(['succeeded', 'succeeded']);
});

test('the worker ends a job that ended early with the answer of the early end, and runs the next job', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await planned(deps, 1);
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null, commandTimeout: undefined });
  const again: JobKind<StepJob>['again'] = (one, { run_id: id, step_id }) => one.queues.wakeStep({ id }, step_id);
  const kind = { handle: handleStep, wakeMissed: wakeMissed.step, again, takesNextStep: true };
  const { worker, looked } = openWorker<StepJob>(deps, queueNames.steps, kind, { connection, prefix: queuePrefix });
  const completed: unknown[] = [];
  const errors: unknown[] = [];
  worker.on('completed', (job) => completed.push(job.data.step_id));
  worker.on('error', (error) => errors.push(error));
  await expect.poll(() => completed.length + errors.length).toBe(2);
  await worker.close();
  await looked();
  connection.disconnect();
  expect(completed).toEqual((await listSteps(deps, runId)).steps.map(({ id }) => id));
  expect(errors).toEqual([]);
});

/** The key that waiting workers block on. */
const markerOf = ({ queues }: WorkerDeps) => queues.steps.toKey('marker');

test('a job that the end of another one takes wakes no waiting worker', async () => {
  const { deps } = inMemoryWorker(engine);
  await planned(deps, 1);
  const marked: number[] = [];
  const { left } = await handleJobs(deps, 2, async (...[one, job, context]) => {
    await one.redis.del(markerOf(one));
    const end = await handleStep(one, job, context);
    marked.push(await one.redis.exists(markerOf(one)));
    return end;
  });
  expect(marked).toEqual([0, 0]);
  expect(left).toBe(0);
});

/** Adds the job of a step of another run, delayed until it is due, and lets the worker that waits for that time die. */
async function dueWithoutWatcher(deps: WorkerDeps): Promise<string> {
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const { runId } = await runs.submit({ spec: specOf([[{ args: { effect: 'read' } }]]) });
  await handleTurn(deps, { run_id: runId, turn: 1 }, context());
  const stepId = (await listSteps(deps, runId)).steps[0]?.id ?? '';
  await (await deps.queues.steps.getJob(stepId))?.remove();
  await deps.queues.addStep({ id: runId }, stepId, Date.now() + 2);
  await expect.poll(() => Date.now()).toBeGreaterThan((await scoreOf(deps, stepId)) / 0x1000 + 1);
  return stepId;
}
const scoreOf = async ({ queues, redis }: WorkerDeps, stepId: string): Promise<number> =>
  Number(await redis.zscore(queues.steps.toKey('delayed'), stepId));

test('the end of a job that promotes a due delayed job wakes a waiting worker', async () => {
  const { deps } = inMemoryWorker(engine);
  await planned(deps, 1);
  const found: unknown[] = [];
  let jobs = 0;
  await handleJobs(deps, 3, async (...[one, job, context]) => {
    if (++jobs > 1) return handleStep(one, job, context);
    const delayed = await dueWithoutWatcher(one);
    await one.redis.del(markerOf(one));
    const end = await handleStep(one, job, context);
    found.push(await (await one.queues.steps.getJob(delayed))?.getState(), await one.redis.exists(markerOf(one)));
    return end;
  });
  expect(found).toEqual(['prioritized', 1]);
});

test('when the end of a job takes no other, because its lock is lost, a waiting worker is woken for the job that was added', async () => {
  const { deps } = inMemoryWorker(engine);
  await planned(deps, 1);
  const waiting: number[] = [];
  let jobs = 0;
  await handleJobs(deps, 2, async (...[one, job, context]) => {
    if (++jobs > 1) return handleStep(one, job, context);
    await one.redis.del(markerOf(one), `${one.queues.steps.toKey(job.step_id)}:lock`);
    const end = await handleStep(one, job, context);
    await expect.poll(() => one.redis.exists(markerOf(one))).toBe(1);
    waiting.push(await one.queues.steps.getPrioritizedCount());
    return end;
  });
  expect(waiting).toEqual([1]);
});

test('a worker that takes no more jobs wakes another one for the next step', async () => {
  const { deps } = inMemoryWorker(engine);
  await planned(deps, 1);
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null, commandTimeout: undefined });
  const handled = Promise.withResolvers<number>();
  const kind: JobKind<StepJob> = {
    async handle(one, job, context) {
      await one.redis.del(markerOf(one));
      await worker.pause(true);
      const end = await handleStep(one, job, context);
      handled.resolve(await one.redis.exists(markerOf(one)));
      return end;
    },
    wakeMissed: wakeMissed.step,
    again: (one, { run_id: id, step_id }) => one.queues.wakeStep({ id }, step_id),
    takesNextStep: true,
  };
  const { worker } = openWorker<StepJob>(deps, queueNames.steps, kind, { connection, prefix: queuePrefix });
  expect(await handled.promise).toBe(1);
  await worker.close();
  connection.disconnect();
});

test('a job whose process died before the end that takes it is found at the next look of a waiting worker', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await planned(deps, 1);
  const [job] = await deps.queues.steps.getPrioritized();
  await job?.remove();
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null, commandTimeout: undefined });
  const handled = Promise.withResolvers<StepJob>();
  const kind: JobKind<StepJob> = {
    async handle(_, taken) {
      handled.resolve(taken);
      return { kind: 'done' };
    },
    wakeMissed: wakeMissed.step,
  };
  const options = { connection, prefix: queuePrefix, drainDelay: 0.5 };
  const { worker } = openWorker<StepJob>(deps, queueNames.steps, kind, options);
  await expect.poll(() => deps.redis.client('LIST')).toContain('cmd=bzpopmin');
  await deps.queues.addNextStep({ id: runId }, String(job?.data.step_id));
  expect(await handled.promise).toEqual(job?.data);
  await worker.close();
  connection.disconnect();
});

test('a handler that fails after its job has ended gets another job', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await planned(deps, 1);
  let failures = 0;
  await handleJobs(deps, 3, async (one, job, context) => {
    if (failures++ > 0) return handleStep(one, job, context);
    context.finish?.();
    throw new Error('no connection');
  });
  expect(await statusesOf(deps, runId)).toEqual(['succeeded', 'succeeded']);
});

test('a job whose early end did not arrive is ended by its worker', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await planned(deps, 1);
  const lost = deps.redis.duplicate();
  await lost.ping();
  lost.disconnect();
  let jobs = 0;
  const { left } = await handleJobs({ ...deps, redis: lost }, 2, (_, job, context) => {
    // Only the end of the first job goes to the lost connection.
    const { finish, ...rest } = context;
    if (++jobs === 1) finish?.();
    return handleStep(deps, job, jobs === 1 ? rest : context);
  });
  expect(left).toBe(0);
  expect(await statusesOf(deps, runId)).toEqual(['succeeded', 'succeeded']);
});

test('the last outcome of a turn, the job that asks the model, and the end of the own job leave together', async () => {
  const { deps, runId } = await modelRun(inMemoryWorker(engine).deps);
  await handleTurn(deps, { run_id: runId, turn: 1 }, context());
  const [first] = await deps.queues.turns.getJobs();
  await first?.remove();
  const found: unknown[] = [];
  await handleJobs(deps, 1, async (...[one, job, context]) => {
    const end = await handleStep(one, job, context);
    const turns = await one.queues.turns.getPrioritized();
    found.push(await one.queues.steps.getActiveCount(), ...turns.map(({ data }) => data));
    return end;
  });
  expect(found).toEqual([0, { run_id: runId, turn: 2 }]);
});

test('the turn of a model, the jobs of its calls, and the end of the own job leave together', async () => {
  const { deps, runId } = await modelRun(inMemoryWorker(engine).deps);
  const handled = Promise.withResolvers<unknown[]>();
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null, commandTimeout: undefined });
  const kind: JobKind<TurnJob> = {
    async handle(one, job, context) {
      const end = await handleTurn(one, job, context);
      const active = await one.queues.turns.getActiveCount();
      handled.resolve([active, await one.queues.steps.getPrioritizedCount()]);
      return end;
    },
    wakeMissed: wakeMissed.turn,
    again: (one, { run_id: id, turn }) => one.queues.wakeTurn({ id }, turn),
  };
  const { worker, looked } = openWorker<TurnJob>(deps, queueNames.turns, kind, { connection, prefix: queuePrefix });
  expect(await handled.promise).toEqual([0, 1]);
  await worker.close();
  await looked();
  connection.disconnect();
  expect(await statusesOf(deps, runId)).toEqual(['queued']);
});
