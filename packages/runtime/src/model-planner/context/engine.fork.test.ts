import type { RunSpec } from '@holdpoint/contract';
import { openEngine } from '@holdpoint/engine';
import {
  Died,
  deliverAll,
  inMemoryWorker,
  listSteps,
  readLog,
  startTestEngine,
  submitRun,
  type TestEngine,
} from '@holdpoint/engine/testing';
import { createRegistry, defineTool, defineToolset } from '@holdpoint/tools';
import { WorkspaceError } from '@holdpoint/workspace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type CountingModel, countingModel } from '../../testing/counting-model.ts';
import { around, specOfPrompt } from '../../testing/planned-run.ts';
import { createModelPlanner } from '../model.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

const turns = 40;
const count = defineTool({
  ...{ name: 'count', description: 'Counts.', effect: 'workspace', risk: 'low' },
  input: z.looseObject({}),
  execute: async () => ({ status: 'succeeded', value: null }),
});
const registry = createRegistry([defineToolset({ name: 'test', tools: [count] })]);
const spec: RunSpec = {
  ...specOfPrompt('Count.', { toolset: 'test' }),
  limits: { ...specOfPrompt('').limits, max_turns: 200 },
};

/** A worker whose model makes calls with 16 KB of result each, in a window of 20,000 tokens. */
function worker() {
  let executed = 0;
  const pausing: { at: number; pause?: () => Promise<unknown> } = { at: 25 };
  const model: CountingModel = countingModel({
    window: 20_000,
    answer: ({ messages }) => {
      const done = Math.max(0, ...[...JSON.stringify(messages).matchAll(/I am at (\d+)/g)].map(([, n]) => Number(n)));
      if (done === pausing.at) void pausing.pause?.();
      if (done === turns) return { text: 'done', calls: [] };
      return {
        text: `I am at ${done + 1}.`,
        calls: [{ id: `call_${done}`, tool: 'count', args: { effect: 'workspace' } }],
      };
    },
  });
  const { deps: plain } = inMemoryWorker(engine);
  const planner = createModelPlanner({
    ...{ ...around, model, registry, now: Date.now },
    workspaces: {
      listing: async () => ({ since: null, entries: [] }),
      contents: async () => {},
      recentCommits: async () => [],
      diffStat: async () => ({ files: [], left_out: [] }),
      read: () => Promise.reject(new WorkspaceError('EPATHMISSING', 'no tree')),
      locate: async () => Promise.reject(new Error('no tree')),
      newestEpoch: async () => 1,
      ignored: async () => new Set<string>(),
      compare: async () => ({ changes: [], total: 0 }),
    },
    describe: () => ({ source: 'unknown' }),
  });
  const deps: typeof plain = {
    ...plain,
    planners: { ...plain.planners, model: planner },
    executor: {
      ...plain.executor,
      async execute(call, context) {
        const outcome = await plain.executor.execute(call, context);
        executed += 1;
        const value = { output: `result ${executed} `.repeat(1300) };
        return outcome.status === 'succeeded' ? { ...outcome, value } : outcome;
      },
    },
  };
  return { deps, model, pausing };
}

/** Dies before it plans each seventh turn, and each time just after the model answered. */
function dying(deps: ReturnType<typeof worker>['deps']) {
  let [asked, died] = [0, 0];
  const planners: typeof deps.planners = {
    ...deps.planners,
    model: {
      async next(input, signal) {
        const decision = await deps.planners.model.next(input, signal);
        asked += 1;
        if (asked % 7 !== 0) return decision;
        died += 1;
        throw new Died();
      },
    },
  };
  return { deps: { ...deps, planners }, died: () => died };
}

/** The request that the model got next has the first two turns whole, and nothing of what was written later. */
function expectBehind(request = ''): void {
  expect(request).toContain('I am at 2.');
  expect(request.split('result 1 ').length).toBeGreaterThan(1000);
  expect(request).not.toMatch(/I am at 3\.|are left out of this conversation/);
}

test('a run of 40 turns in a small window, whose worker dies now and then; undo and fork go behind its compactions', async () => {
  const { deps: sound, model, pausing } = worker();
  const { deps, died } = dying(sound);
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  pausing.pause = () => runs.pause(runId);
  await deliverAll(deps);
  const { run: paused } = await listSteps(deps, runId);
  expect(paused.status).toBe('paused');
  expect(paused.compactions).toBeGreaterThan(2);

  delete pausing.pause;
  await runs.undo(runId, { toStep: 2, keepExternalEffects: false });
  const undone = model.requests.length;
  await runs.resume(runId, {});
  await deliverAll(deps);
  expectBehind(model.requests[undone]);
  const { run } = await listSteps(deps, runId);
  expect(run).toMatchObject({ status: 'succeeded', turn: turns + 1, message: 'done' });
  expect(died()).toBeGreaterThan(5);
  const log = await readLog(deps.redis, runId, { limit: 1000 });
  expect(log.filter(({ type }) => type === 'context.compacted')).toHaveLength(run.compactions);

  const early = await runs.fork(runId, { fromStep: 2, changes: {} });
  const forked = model.requests.length;
  await deliverAll(sound);
  expectBehind(model.requests[forked]);
  expect((await listSteps(deps, early.runId)).run).toMatchObject({ status: 'succeeded', turn: turns + 1 });
});
