import { isTerminal } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { readRun } from '../log/index.ts';
import { listRuns } from '../queries/index.ts';
import { Died, dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type LookDeps, lookAtSchedule, type Submitted, type Submitting } from './look.ts';
import { openScheduleStore } from './store.ts';
import { stateOf } from './testing/times-of.ts';

const engine = useTestEngine();
const named = { tenant: 'default', name: 'nightly' };
const minute = 60_000;
const isoOf = (time: number) => new Date(time).toISOString();
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 3;

/** A process that looks at schedules, at a time of its own. */
function looking(deps: WorkerDeps, now: () => number): LookDeps {
  return {
    store: openScheduleStore(deps.redis),
    ...{ now, newRunId: () => deps.newId('run'), wake: async () => {} },
    submit: ({ submitting, ...state }) => submit(deps, { submitting, ...state }, now),
    async endOf(_, runId) {
      const run = await readRun(deps.redis, runId);
      return run === undefined || isTerminal(run.status) ? 'succeeded' : 'active';
    },
    cancel: async () => {},
  };
}

async function submit(deps: WorkerDeps, { submitting, ...state }: Submitting, now: () => number): Promise<Submitted> {
  const { at, kind, run_id } = submitting;
  const spec = specOf([[{ args: { effect: 'read' } }]]);
  if ((await readRun(deps.redis, run_id)) === undefined)
    await submitRun(deps, { spec: { ...spec, labels: { scheduled_for: at } }, by: 'ann', runId: run_id });
  const running = [...state.running, { run_id, scheduled_for: at, since: submitting.since }];
  const recorded = { scheduled_for: at, kind, outcome: 'submitted' as const, recorded_at: isoOf(now()), run_id };
  return { state: { ...state, running }, recorded };
}

async function begin(overlap: 'allow' | 'queue_one') {
  const worker = inMemoryWorker(engine);
  await worker.deps.redis.flushdb();
  const began = worker.deps.now() - 3 * minute;
  const state = { ...stateOf({ every_s: 60, overlap }, began), next: isoOf(began + minute) };
  await openScheduleStore(worker.deps.redis).put({ after: undefined, state, wakeAt: began + minute });
  const runs = async () => {
    const { items } = await listRuns(worker.deps, { tenant: 'default' }, { limit: 100 });
    return items.map(({ header }) => header.labels.scheduled_for).toSorted();
  };
  return { ...worker, began, runs, due: [1, 2, 3].map((n) => isoOf(began + n * minute)) };
}

test.each([
  ['allow', 'before'],
  ['allow', 'after'],
  ['queue_one', 'before'],
  ['queue_one', 'after'],
] as const)(
  'a process that dies (%s) %s any one command to Redis makes one run of each occurrence',
  async (overlap, when) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, began, runs, due } = await begin(overlap);
      const now = () => began + 3 * minute + 10;
      const dying = dyingAt(deps, commands, when);
      await lookAtSchedule(looking(dying.deps, now), named).catch(unlessDied);
      faulted = dying.died();
      // The next process, and a third one at the same time.
      for (let round = 0; round < 4; round++) {
        await Promise.all([0, 1].map(() => lookAtSchedule(looking(deps, now), named)));
        // The sweep leaves a run alone that changed within its last five seconds.
        await sweepOnce({ ...deps, now: () => deps.now() + 6000 });
        await deliverAll(deps);
      }
      const expected = overlap === 'allow' ? due : due.slice(0, 2);
      expect([commands, await runs()]).toEqual([commands, expected]);
      const history = await openScheduleStore(deps.redis).history(named, 50);
      expect([commands, history.map(({ scheduled_for }) => scheduled_for).toSorted()]).toEqual([commands, due]);
    }
    expect(commands).toBeGreaterThan(9);
  },
);

test('eight processes that look at once make one run of each occurrence', async () => {
  const { deps, began, runs, due } = await begin('allow');
  const all = Array.from({ length: 8 }, () => looking(deps, () => began + 3 * minute + 10));
  await Promise.all(all.map((one) => lookAtSchedule(one, named)));
  expect(await runs()).toEqual(due);
});

test('a state that changed is not replaced, and a removed schedule stays removed', async () => {
  const { deps, began } = await begin('allow');
  const store = openScheduleStore(deps.redis);
  const found = await store.find(named);
  if (found === undefined) throw new Error('no schedule');
  expect(await store.put({ after: found.revision, state: found.state, wakeAt: undefined })).toBe('stored');
  expect(await store.put({ after: found.revision, state: found.state, wakeAt: undefined })).toBe('changed');
  expect(await store.due(began + 60 * minute, 10)).toEqual([]);
  const now = await store.find(named);
  expect(await store.remove(named, now?.revision ?? '')).toBe('stored');
  expect(await store.put({ after: now?.revision, state: found.state, wakeAt: 1 })).toBe('changed');
  expect([await store.find(named), await store.names('default'), await store.due(began, 10)]).toEqual([
    undefined,
    [],
    [],
  ]);
});

test('a state that cannot be read is named in the list', async () => {
  const { deps } = await begin('allow');
  await deps.redis.hset('hp:{schedules}:schedule:default/nightly', 'state', '{"name":');
  const { items, damaged } = await openScheduleStore(deps.redis).list('default');
  expect([items, damaged.map(({ id }) => id)]).toEqual([[], ['nightly']]);
});

function unlessDied(error: unknown): void {
  if (!(error instanceof Died)) throw error;
}
