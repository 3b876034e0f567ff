import type { ModelRetrying, RunSpec } from '@holdpoint/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forkRun } from '../commands/fork-run.ts';
import { sendMessage } from '../commands/send-message.ts';
import { requestCancel, requestPause, requestResume } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { undoSteps } from '../commands/undo-run.ts';
import type { WorkerDeps } from '../deps.ts';
import type { Planner } from '../ports/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { listAgents } from '../queries/list-tree.ts';
import { jobIds, queuePrefix } from '../queues/queues.ts';
import { inMemoryWorker, readRun, specOf, sweepOnce } from '../testing/index.ts';
import { type JobTaker, openJobTaker } from '../testing/job-taker.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
let taker: JobTaker;
beforeAll(() => {
  taker = openJobTaker(engine.deps);
});
afterAll(() => taker.close());

const hour = 3_600_000;
const ann = { by: 'ann' };
const reason = { code: 'EMODELUNAVAILABLE', message: 'away' };
const spec: RunSpec = { ...specOf([[{ args: {} }]]), goal: { planner: 'model', model: 'main', prompt: 'work' } };

/** A model that makes one call, is away before its second turn until `answers`, and then ends. */
function away() {
  let now = Date.now();
  const state = { answers: false, asked: [] as string[], advance: (ms: number) => (now += ms) };
  const model: Planner = {
    async next({ turn, model, modelWait }) {
      if (turn === 1) return { kind: 'calls', message: 'count', calls: [{ tool: 'count', args: { effect: 'read' } }] };
      state.asked.push(model);
      if (state.answers) return { kind: 'finish', message: 'done', answer: 'done' };
      const retrying: ModelRetrying = {
        ...{ model, next: model, failures: (modelWait?.failures ?? 0) + 1, tries: 1, reason },
        since: modelWait?.since ?? new Date(now).toISOString(),
        until: new Date(now + hour).toISOString(),
      };
      return { kind: 'retrying', retrying };
    },
  };
  const { deps } = inMemoryWorker(engine);
  const all: WorkerDeps = { ...deps, now: () => now, planners: { ...deps.planners, model } };
  return { state, deps: all };
}

async function waiting() {
  const { state, deps } = away();
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await taker.deliverRest(deps);
  expect(await readRun(deps.redis, runId)).toMatchObject({ status: 'waiting', model_wait: { failures: 1 } });
  const job = () => deps.queues.turns.getJob(jobIds.turn(runId, 2));
  return { state, deps, runId, job, run: () => readRun(deps.redis, runId) };
}

test('a wait for a model is an event, holds no worker and is no time of the run; the sweep leaves it alone', async () => {
  const { state, deps, runId, job, run } = await waiting();
  expect(await (await job())?.getState()).toBe('delayed');
  const before = await run();
  state.advance(hour / 2);
  await sweepOnce(deps);
  await taker.deliverRest(deps);
  expect(await run()).toEqual(before);
  expect(state.asked).toHaveLength(1);

  state.advance(hour);
  state.answers = true;
  await sweepOnce(deps);
  await taker.deliverRest(deps);
  const after = await run();
  expect(after?.status).toBe('succeeded');
  expect(after).not.toHaveProperty('model_wait');
  expect(after?.active_ms).toBe(0);
  const types = (await soundLog(deps, runId)).map(({ type }) => type);
  expect(types.slice(types.indexOf('model.retrying'))).toEqual([
    ...['model.retrying', 'run.waiting', 'run.resumed', 'turn.planned', 'run.succeeded'],
  ]);
});

test('a second failure adds one event', async () => {
  const { state, deps, runId, run } = await waiting();
  const before = (await run())?.seq ?? 0;
  state.advance(hour + 1);
  await sweepOnce(deps);
  await taker.deliverRest(deps);
  expect(await run()).toMatchObject({ status: 'waiting', seq: before + 1, model_wait: { failures: 2 } });
  await soundLog(deps, runId);
});

test('a queue that is lost gets the sleeping job again', async () => {
  const { deps, job } = await waiting();
  await deps.redis.del(...(await deps.redis.keys(`${queuePrefix}:*`)));
  await sweepOnce({ ...deps, now: () => deps.now() + 10_000 });
  expect(await (await job())?.getState()).toBe('delayed');
  expect((await job())?.delay).toBeGreaterThan(hour / 2);
});

test('a message is received at once, and read when the model answers', async () => {
  const { state, deps, runId, run } = await waiting();
  await sendMessage(deps, runId, { text: 'hurry', ...ann });
  state.answers = true;
  state.advance(hour + 1);
  await sweepOnce(deps);
  await taker.deliverRest(deps);
  expect(await run()).toMatchObject({ status: 'succeeded', messages: 1, messages_read: 1 });
});

test('a resume has the model asked at once, and may change it', async () => {
  const { state, deps, runId, run } = await waiting();
  await requestResume(deps, runId, ann);
  await taker.deliverRest(deps);
  expect(await run()).toMatchObject({ status: 'waiting', model_wait: { failures: 1 } });
  state.answers = true;
  await requestResume(deps, runId, { ...ann, model: 'other' });
  await taker.deliverRest(deps);
  expect(await run()).toMatchObject({ status: 'succeeded', model: 'other' });
  expect(state.asked).toEqual(['main', 'main', 'other']);
  await soundLog(deps, runId);
  const fork = await forkRun(deps, runId, { fromStep: 0, changes: {}, ...ann });
  await taker.deliverRest(deps);
  expect(state.asked.at(-1)).toBe('other');
  await soundLog(deps, fork.runId);
});

test('a pause and a cancel count at once', async () => {
  const { state, deps, runId, job, run } = await waiting();
  await requestPause(deps, runId, 'ann');
  await taker.deliverRest(deps);
  expect(await job()).toBeUndefined();
  expect((await run())?.status).toBe('paused');
  await requestResume(deps, runId, { ...ann, model: 'other' });
  await taker.deliverRest(deps);
  expect(await run()).toMatchObject({ status: 'waiting', model: 'other', model_wait: { model: 'other', failures: 1 } });
  expect(state.asked).toEqual(['main', 'other']);
  await requestCancel(deps, runId, ann);
  await taker.deliverRest(deps);
  expect((await run())?.status).toBe('canceled');
  await soundLog(deps, runId);
});

test('an undo leaves no sleeping job of the turn behind', async () => {
  const { state, deps, runId, job, run } = await waiting();
  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 0, keepExternalEffects: true, ...ann });
  await taker.deliverRest(deps);
  expect(await job()).toBeUndefined();
  state.answers = true;
  await requestResume(deps, runId, ann);
  await taker.deliverRest(deps);
  expect((await run())?.status).toBe('succeeded');
  await soundLog(deps, runId);
});

test('a sleeping job without a reason is woken by the sweep', async () => {
  const { state, deps, runId, run } = await waiting();
  const sleeping = deps.queues.turns;
  state.answers = true;
  // A process died between the rewind and its wake-up: the job of the later turn sleeps on.
  const dying = { ...deps, queues: { ...deps.queues, releaseTurn: async () => {} } };
  await requestPause(dying, runId, 'ann');
  await undoSteps(dying, runId, { toStep: 0, keepExternalEffects: true, ...ann });
  await requestResume(dying, runId, ann);
  await taker.deliverRest(deps);
  expect([(await run())?.status, await sleeping.getDelayedCount()]).toEqual(['running', 1]);
  await sweepOnce({ ...deps, now: () => deps.now() + 10_000 });
  await taker.deliverRest(deps);
  expect((await run())?.status).toBe('succeeded');
});

test('a run shows that its sub-agent waits for a model', async () => {
  const { state, deps } = away();
  const agents = specOf([[{ args: { effect: 'read', asks: 'main' } }]]);
  const { runId } = await submitRun(deps, { spec: { ...agents, models: ['main'] }, by: 'test' });
  await taker.deliverRest(deps);
  const parent = await readRun(deps.redis, runId);
  const [child] = parent === undefined ? [] : await listAgents(deps, parent);
  expect(child).toMatchObject({ status: 'waiting', model_wait: { failures: 1 } });
  expect(parent).toMatchObject({ status: 'waiting', agents_total: { waiting: 1 } });
  state.answers = true;
  await requestResume(deps, runId, ann);
  await taker.deliverRest(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  await soundLog(deps, runId);
});
