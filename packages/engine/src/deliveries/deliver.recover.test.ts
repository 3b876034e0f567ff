import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { readLog } from '../log/index.ts';
import { Died, dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type DeliverDeps, deliverTo } from './deliver.ts';
import { openMarker } from './mark-events.ts';
import { idOf, type ReceiverState } from './state.ts';
import { openDeliveryStore } from './store.ts';

const engine = useTestEngine();
const hour = 3_600_000;
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 3;
const began = new Date(Date.now() - hour).toISOString();
const receiver: ReceiverState = {
  ...{ kind: 'webhooks', tenant: 'default', name: 'ci', version: 1, settings: {} },
  filter: { events: ['run.*', 'step.*'], labels: {} },
  ...{ created_at: began, created_by: 'ann', changed_at: began, since: began },
};
const id = idOf(receiver);

/** A process that marks and sends, whose time is its own. */
function openProcess(deps: WorkerDeps, take: DeliverDeps['send'], now: () => number) {
  const store = openDeliveryStore(deps.redis);
  const { redis, logger } = deps;
  const marker = openMarker({ redis, logger, store, now, wake: async () => {} });
  const delivering = { redis, logger, store, now, wake: async () => {}, onTry: () => {}, onOff: async () => {} };
  return {
    mark: (runIds: readonly string[]) => marker.handle(runIds, new AbortController().signal),
    deliver: () => deliverTo({ ...delivering, send: take }, id),
    store,
  };
}

async function begin() {
  const worker = inMemoryWorker(engine);
  await worker.deps.redis.flushdb();
  await openDeliveryStore(worker.deps.redis).put(receiver, { now: Date.now() });
  const runs: string[] = [];
  for (let count = 0; count < 2; count++)
    runs.push((await submitRun(worker.deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'ann' })).runId);
  await deliverAll(worker.deps);
  const expected = await Promise.all(
    runs.map(async (runId) => {
      const events = await readLog(worker.deps.redis, runId);
      return events.filter(({ type }) => /^(run|step)\./.test(type)).map(({ seq }) => seq);
    }),
  );
  const taken = new Map<string, number[]>(runs.map((runId) => [runId, []]));
  const take: DeliverDeps['send'] = async (_, { run_id, seq }) => {
    taken.get(run_id)?.push(seq);
    return { outcome: 'delivered', status: 200 };
  };
  return { ...worker, runs, expected, taken, take };
}

/** The first time of each number: a receiver drops the others by their id. */
const firsts = (seqs: readonly number[] = []): number[] => [...new Set(seqs)];

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis loses no event and keeps the order of each run',
  async (when) => {
    let faulted = true;
    let commands = 1;
    let again = 0;
    for (; faulted; commands += stride) {
      const { deps, runs, expected, taken, take } = await begin();
      const dying = dyingAt(deps, commands, when);
      const first = openProcess(dying.deps, take, Date.now);
      await first.mark(runs).then(first.deliver).catch(unlessDied);
      faulted = dying.died();
      // The next process after the dead one is presumed dead, and a third one at the same time.
      const next = openProcess(deps, take, () => Date.now() + hour);
      await Promise.all([next.mark(runs), next.mark(runs)]);
      await Promise.all([next.deliver(), next.deliver()]);
      expect([commands, runs.map((runId) => firsts(taken.get(runId)))]).toEqual([commands, expected]);
      again += runs.reduce((sum, runId) => sum + (taken.get(runId)?.length ?? 0), 0) - expected.flat().length;
      expect([commands, (await next.store.health(id)).pending]).toEqual([commands, 0]);
    }
    expect(commands).toBeGreaterThan(9);
    // At most one event of each run is sent twice for each death: the one whose outcome was not recorded.
    expect(again).toBeLessThanOrEqual((commands / stride) * 2);
  },
);

test('eight processes that look at once send each event once, in order', async () => {
  const { deps, runs, expected, taken, take } = await begin();
  const all = Array.from({ length: 8 }, () => openProcess(deps, take, Date.now));
  await Promise.all(all.map((one) => one.mark(runs)));
  await Promise.all(all.map((one) => one.deliver()));
  expect(runs.map((runId) => taken.get(runId))).toEqual(expected);
});

test('a holder that comes back after its lane was taken changes nothing', async () => {
  const { deps, runs, expected, taken, take } = await begin();
  const late = openProcess(deps, take, Date.now);
  await late.mark(runs);
  const held = await late.store.claim(id, { now: Date.now(), until: Date.now() + 1000, most: 8, token: 'late' });
  expect(held.lanes).toHaveLength(2);
  const next = openProcess(deps, take, () => Date.now() + hour);
  await next.deliver();
  expect(runs.map((runId) => taken.get(runId))).toEqual(expected);
  for (const lane of held.lanes) {
    const settled = { outcome: 'delivered', cursor: 1, dueAt: 0, now: 0 } as const;
    expect(await late.store.settle(id, { name: lane.name, token: 'late' }, settled)).toBeUndefined();
  }
  expect(await next.store.health(id)).toMatchObject({ pending: 0, failures: 0 });
});

test('a receiver that fails has one request at a time, whatever waits', async () => {
  const { deps, runs, taken } = await begin();
  let time = Date.now();
  let asked = 0;
  const refuse: DeliverDeps['send'] = async () => {
    asked += 1;
    return { outcome: 'receiver_failed', status: 500, error: 'it answered 500' };
  };
  const process = openProcess(deps, refuse, () => time);
  await process.mark(runs);
  await process.deliver();
  const first = asked;
  expect(first).toBeLessThanOrEqual(2);
  await process.deliver();
  expect(asked).toBe(first);
  time += hour;
  await Promise.all([process.deliver(), process.deliver(), process.deliver()]);
  expect(asked).toBe(first + 1);
  expect([...taken.values()].flat()).toEqual([]);
});

function unlessDied(error: unknown): void {
  if (!(error instanceof Died)) throw error;
}
