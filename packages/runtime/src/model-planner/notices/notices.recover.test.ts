import { openEngine } from '@holdpoint/engine';
import {
  Died,
  deliverAll,
  dyingAt,
  inMemoryWorker,
  listSteps,
  readLog,
  startTestEngine,
  submitRun,
  sweepOnce,
  type TestEngine,
} from '@holdpoint/engine/testing';
import { handleTask, handleTurn, type Planner } from '@holdpoint/engine/worker';
import type { ModelMessage } from '@holdpoint/models';
import { createRegistry, defineTool, defineToolset } from '@holdpoint/tools';
import { WorkspaceError } from '@holdpoint/workspace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { countingModel } from '../../testing/counting-model.ts';
import { around, specOfPrompt } from '../../testing/planned-run.ts';
import { createModelPlanner } from '../model.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

const count = defineTool({
  ...{ name: 'count', description: 'Counts.', effect: 'workspace', risk: 'low' },
  input: z.looseObject({}),
  execute: async () => ({ status: 'succeeded', value: null }),
});
const registry = createRegistry([defineToolset({ name: 'test', tools: [count] })]);
const spec = specOfPrompt('Count.', { toolset: 'test' });
const heading = 'Notices of Holdpoint';

const context = () => ({ signal: new AbortController().signal, lastTry: false });

/**
 * A worker whose model makes these calls, one a turn, and then ends. Background commands end between the first and the second turn.
 * @param during what happens while the model answers
 */
function worker(calls: object[], during: (turn: number) => Promise<unknown> = async () => {}) {
  const requests: ModelMessage[][] = [];
  const model = countingModel({
    window: 1_000_000,
    answer({ messages }) {
      requests.push([...messages]);
      const done = messages.filter(({ role }) => role === 'assistant').length;
      const args = calls[done];
      if (args === undefined) return { text: 'done', calls: [] };
      return { text: `turn ${done + 1}`, calls: [{ id: `call_${done}`, tool: 'count', args: asJson(args) }] };
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
  const endTasks = async () => {
    for (const job of await plain.queues.tasks.getJobs(['waiting', 'prioritized'])) {
      await handleTask(plain, job.data, context());
      await job.remove();
    }
  };
  const slow: Planner = {
    async next(input, signal) {
      if (input.turn > 1) await endTasks();
      const decision = await planner.next(input, signal);
      if ('message' in decision) await during(input.turn);
      return decision;
    },
  };
  return { deps: { ...plain, planners: { ...plain.planners, model: slow } }, planner, requests, endTasks };
}

const asJson = (args: object) => JSON.parse(JSON.stringify(args));
const background = { effect: 'workspace', background: 'npm test' };
const read = { effect: 'read' };
const noticesIn = (messages: readonly ModelMessage[] = []): string[] =>
  messages.flatMap((message) => (message.role === 'user' && message.text.startsWith(heading) ? [message.text] : []));

/** Each request begins with the whole request before. */
function expectStablePrefix(requests: readonly ModelMessage[][]): void {
  for (const [at, request] of requests.entries()) {
    const before = requests[at - 1] ?? [];
    const next = request.slice(0, before.length);
    expect(next).toEqual(before);
  }
}

test('the end of a background command that no call asked about is a notice, once, at the end of the conversation', async () => {
  const { deps, requests } = worker([background, ...Array(58).fill(read)]);
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  expect(requests).toHaveLength(60);
  expectStablePrefix(requests);
  const first = requests.findIndex((request) => noticesIn(request).length > 0);
  expect(noticesIn(requests[first])[0]).toMatch(/background command task_\S+ "npm test" completed with exit 0/);
  expect(requests[first]?.at(-1)).toMatchObject({ role: 'user', text: noticesIn(requests[first])[0] });
  expect(noticesIn(requests.at(-1))).toHaveLength(1);
  const log = await readLog(deps.redis, runId, { limit: 1000 });
  expect(log.filter(({ type }) => type === 'context.notified')).toHaveLength(1);
});

test('what a result has shown is no notice', async () => {
  const shown = worker([{ effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', args: read }] }] } }, read]);
  await submitRun(shown.deps, { spec, by: 'test' });
  await deliverAll(shown.deps);
  expect(shown.requests).toHaveLength(3);
  expect(shown.requests.flatMap(noticesIn)).toEqual([]);
});

/** The worker dies at each seventh command, on each day at other ones. */
const every = 7;

test('a worker that dies at any command gives a notice once, and a repeated request has the same bytes', async () => {
  let deaths = 0;
  for (let at = 1 + (Math.floor(Date.now() / 86_400_000) % every); ; at += every) {
    for (const when of ['before', 'after'] as const) {
      const { deps, requests } = worker([background, read, read]);
      const { runId } = await submitRun(deps, { spec, by: 'test' });
      const dying = dyingAt(deps, at, when);
      await deliverAll(deps, (n) => (n === 1 || dying.died() ? deps : dying.deps));
      for (let n = 0; n < 3; n++) {
        await sweepOnce(deps);
        await deliverAll(deps);
      }
      // The run had fewer commands.
      if (!dying.died()) return expect(deaths).toBeGreaterThan(10);
      deaths += 1;
      const log = await readLog(deps.redis, runId, { limit: 1000 });
      expect((await listSteps(deps, runId)).run.status, `${when} ${at}`).toBe('succeeded');
      expect(
        log.filter(({ type }) => type === 'context.notified'),
        `${when} ${at}`,
      ).toHaveLength(1);
      expect(noticesIn(requests.at(-1))).toHaveLength(1);
      const whole = new Map(requests.map((request) => [request.length, request]));
      for (const request of requests) expect(request).toEqual(whole.get(request.length));
      expectStablePrefix([...whole.values()]);
    }
  }
});

test('a model that was asked before another worker recorded a notice is asked again', async () => {
  let second: Promise<unknown> | undefined;
  const first = worker([read, background, read]);
  const { deps, planner, requests } = first;
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  /** Records the notice, and dies before its model answers. */
  async function otherWorker(): Promise<void> {
    await first.endTasks();
    const kinds: string[] = [];
    const dies: Planner = {
      async next(input, signal) {
        if (kinds.length > 0) throw new Died();
        const decision = await planner.next(input, signal);
        kinds.push(decision.kind);
        return decision;
      },
    };
    const other = { ...deps, planners: { ...deps.planners, model: dies } };
    await handleTurn(other, { run_id: runId, turn: 3 }, context()).catch(() => undefined);
    expect(kinds).toEqual(['notified']);
  }
  deps.planners.model = {
    async next(input, signal) {
      const decision = await planner.next(input, signal);
      if (input.turn === 3 && second === undefined) {
        second = otherWorker();
        await second;
      }
      return decision;
    },
  };
  await deliverAll(deps);
  for (let n = 0; n < 3; n++) {
    await sweepOnce(deps);
    await deliverAll(deps);
  }
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  const third = requests.filter((request) => request.filter(({ role }) => role === 'assistant').length === 2);
  expect(third.map((request) => noticesIn(request).length)).toEqual([0, 1]);
  expectStablePrefix(requests);
});

test('an undone notice is given again, and so is the undo', async () => {
  let pause: (() => Promise<unknown>) | undefined;
  const { deps, requests } = worker([background, read, read, read], async (turn) =>
    turn === 4 ? pause?.() : undefined,
  );
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  pause = () => runs.pause(runId);
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('paused');
  pause = undefined;
  await runs.undo(runId, { toStep: 1, keepExternalEffects: false });
  const before = requests.length;
  await runs.resume(runId, {});
  await deliverAll(deps);
  const next = noticesIn(requests[before]);
  expect(next).toHaveLength(1);
  expect(next[0]).toMatch(/"npm test" completed.*\n.*"ann" undid the \d calls/);
  expect(noticesIn(requests.at(-1))).toHaveLength(1);
});
