import { randomUUIDv7 } from 'node:crypto';
import { isTerminal } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun } from '../commands/fork-run.ts';
import { submitRun } from '../commands/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { readRun } from '../log/index.ts';
import { listRuns } from '../queries/index.ts';
import { Died, dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import type { Reading } from './advance.ts';
import { type EvalLookDeps, lookAtEval } from './look.ts';
import type { EvalState, Repeat } from './state.ts';
import { openEvalStore } from './store.ts';

const engine = useTestEngine();
const named = { tenant: 'default', id: `eval_${randomUUIDv7()}` };
const models = ['anthropic/one', 'anthropic/two', 'anthropic/three'];
const nothing = { cost_usd: 0, steps: 0, turns: 0, holds: 0 };
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 4;

/** A process that looks at evaluations. Its forks have the label of their model. */
function looking(deps: WorkerDeps): EvalLookDeps {
  return {
    store: openEvalStore(deps.redis),
    ...{ now: deps.now, newRunId: () => deps.newId('run'), wake: async () => {} },
    async fork(_, { of, model, run_id: runId }) {
      if ((await readRun(deps.redis, runId)) !== undefined) return undefined;
      const changes = { labels: { model: model.replace('/', '-') } };
      await forkRun(deps, of, { fromStep: 0, changes, by: 'ann', runId });
      return undefined;
    },
    read: (_, runId) => reading(deps, runId),
    validate: async () => {},
    cancel: async () => {},
  };
}

async function reading(deps: WorkerDeps, runId: string): Promise<Reading> {
  const run = await readRun(deps.redis, runId);
  if (run === undefined) return { status: 'gone', validators: 'absent', ...nothing };
  const status = isTerminal(run.status) ? 'succeeded' : 'active';
  return { status, validators: 'absent', ...nothing, steps: 1 };
}

/** An evaluation of a run that has ended, with a repeat for each model. */
async function begin(changed: Partial<EvalState> = {}) {
  const worker = inMemoryWorker(engine);
  await worker.deps.redis.flushdb();
  const { runId: of } = await submitRun(worker.deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'ann' });
  await deliverAll(worker.deps);
  const repeats: Repeat[] = models.map((model) => ({ of, model, status: 'waiting', ...nothing }));
  const state: EvalState = {
    ...{ ...named, name: 'parser bugs', models, budget: { max_steps: 9 }, parallel: 2, originals: [], repeats },
    ...{ created_at: new Date(worker.deps.now()).toISOString(), created_by: 'ann', key_id: 'key_1', ...changed },
  };
  await openEvalStore(worker.deps.redis).put({ after: undefined, state, wakeAt: worker.deps.now() });
  const forks = async () => {
    const { items } = await listRuns(worker.deps, { tenant: 'default' }, { limit: 100 });
    return items.filter(({ id }) => id !== of).map(({ id, header }) => [header.labels.model, id]);
  };
  const found = async () => (await openEvalStore(worker.deps.redis).find(named))?.state;
  return { ...worker, of, forks, found };
}

/** Two processes look, and the runs work on, until nothing is left to do. */
async function workOn(deps: WorkerDeps): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await Promise.all([0, 1].map(() => lookAtEval(looking(deps), named)));
    // The sweep leaves a run alone that changed within its last five seconds.
    await sweepOnce({ ...deps, now: () => deps.now() + 6000 });
    await deliverAll(deps);
  }
}

const byModel = (repeats: readonly Repeat[] = []) =>
  repeats.map(({ model, run_id }) => [model.replace('/', '-'), run_id]).toSorted();

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis makes one run of each repeat, and the evaluation ends',
  async (when) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, forks, found } = await begin();
      const dying = dyingAt(deps, commands, when);
      await lookAtEval(looking(dying.deps), named).catch(unlessDied);
      faulted = dying.died();
      await workOn(deps);
      const ended = await found();
      expect([commands, ended?.repeats.map(({ outcome }) => outcome)]).toEqual([commands, models.map(() => 'passed')]);
      expect([commands, (await forks()).toSorted()]).toEqual([commands, byModel(ended?.repeats)]);
      expect(await openEvalStore(deps.redis).due(deps.now() + 1e9, 10)).toEqual([]);
    }
    expect(commands).toBeGreaterThan(20);
  },
);

test('eight processes that look at once make one run of each repeat, as many at once as the evaluation says', async () => {
  const { deps, forks, found } = await begin();
  await Promise.all(Array.from({ length: 8 }, () => lookAtEval(looking(deps), named)));
  expect(await forks()).toHaveLength(2);
  await workOn(deps);
  expect((await forks()).toSorted()).toEqual(byModel((await found())?.repeats));
});

test('a process that was slow between its read and its write takes no repeat a second time', async () => {
  const { deps, forks, found } = await begin();
  const store = openEvalStore(deps.redis);
  let isFirst = true;
  const put: typeof store.put = async (changed) => {
    if (isFirst) {
      isFirst = false;
      await lookAtEval(looking(deps), named);
    }
    return store.put(changed);
  };
  await lookAtEval({ ...looking(deps), store: { ...store, put } }, named);
  await workOn(deps);
  expect((await forks()).toSorted()).toEqual(byModel((await found())?.repeats));
});

test('a canceled evaluation begins no repeat, and ends', async () => {
  const { deps, forks, found } = await begin({ canceled_by: 'ann' });
  await workOn(deps);
  expect(await forks()).toEqual([]);
  expect((await found())?.repeats.map(({ outcome }) => outcome)).toEqual(models.map(() => 'skipped'));
});

test('repeats begin while something of the budget is left, and never use more together', async () => {
  const { deps, forks, found } = await begin({ budget: { max_steps: 2 }, parallel: 1 });
  await workOn(deps);
  expect(await forks()).toHaveLength(2);
  expect((await found())?.repeats.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'skipped']);
});

test('a state that changed is not replaced, and one that cannot be read is named in the list', async () => {
  const { deps } = await begin();
  const store = openEvalStore(deps.redis);
  const found = await store.find(named);
  if (found === undefined) throw new Error('no evaluation');
  expect(await store.put({ after: found.revision, state: found.state, wakeAt: undefined })).toBe('stored');
  expect(await store.put({ after: found.revision, state: found.state, wakeAt: undefined })).toBe('changed');
  await deps.redis.hset(`hp:{evals}:eval:default/${named.id}`, 'state', '{"name":');
  const { items, damaged } = await store.list('default', 10);
  expect([items, damaged.map(({ id }) => id)]).toEqual([[], [named.id]]);
});

function unlessDied(error: unknown): void {
  if (!(error instanceof Died)) throw error;
}
