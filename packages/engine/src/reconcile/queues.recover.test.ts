import { expect, test } from 'vitest';
import { requestPublication, submitRun } from '../commands/index.ts';
import { collectGarbage } from '../handlers/collect-garbage.ts';
import { activeIndex, approvalIndex, logKey, repairsKey, stateKey } from '../log/keys.ts';
import { listSteps } from '../queries/index.ts';
import { queuePrefix } from '../queues/queues.ts';
import { approveFirst } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { releaseUnlessDue } from './release-run.ts';

const engine = useTestEngine({ fresh: true });

const hour = 3_600_000;
const write = { args: { effect: 'workspace' } };
const holdWrites = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } };
/** A sweep so many milliseconds from now: what has just moved is left alone. */
const sweepIn = (deps: InMemoryWorker['deps'], ms: number) => sweepOnce({ ...deps, now: () => Date.now() + ms });
const submit = async (deps: InMemoryWorker['deps'], more = {}) =>
  (await submitRun(deps, { spec: specOf([[write], [write]], more), by: 'test' })).runId;
const statusOf = async (runId: string) => (await listSteps(engine.deps, runId)).run.status;

test('Redis loses every queue: the next sweep brings queued, parked and running runs on', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const queued = await submit(deps);
  const parked = await submit(deps, holdWrites);
  await deliverAll(deps);
  const fresh = await submit(deps);
  const keys = await deps.redis.keys(`${queuePrefix}:*`);
  expect(keys.length).toBeGreaterThan(0);
  await deps.redis.del(...keys);
  await sweepIn(deps, 10_000);
  await deliverAll(deps);
  expect([await statusOf(queued), await statusOf(parked), await statusOf(fresh)]).toEqual([
    'succeeded',
    'waiting',
    'succeeded',
  ]);
  for (let step = 0; step < 2; step++) {
    await approveFirst(deps, parked);
    await deliverAll(deps);
  }
  expect(await statusOf(parked)).toBe('succeeded');
  for (const id of [queued, parked, fresh]) expect(treeOf(id)).toHaveLength(2);
  for (const id of [queued, parked, fresh]) await soundLog(deps, id);
});

test('a retry that a clock which was an hour ahead put off is woken, and what is parked sleeps on', async () => {
  const { deps } = inMemoryWorker(engine);
  const parked = await submit(deps, holdWrites);
  await deliverAll(deps);
  const queue = deps.queues.turns;
  const late = await queue.add('turn', { run_id: parked, turn: 9 }, { jobId: 'late', delay: hour });
  // As BullMQ leaves a job whose try failed, on a machine whose clock is an hour ahead: a short delay, and a time far off.
  await deps.redis.hset(queue.toKey('late'), { atm: 1, delay: 250 });
  await sweepOnce(deps);
  expect(await late.getState()).toBe('waiting');
  expect(await deps.queues.steps.getDelayedCount()).toBe(1);
  expect(await deps.redis.hget(repairsKey, 'overslept')).toBe('1');
});

test('an approval that fell out of its list is listed again', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, holdWrites);
  await deliverAll(deps);
  const [id = ''] = await deps.redis.zrange(approvalIndex, '0', '-1');
  await deps.redis.zrem(approvalIndex, id);
  await sweepIn(deps, 10_000);
  expect(await deps.redis.zrange(approvalIndex, '0', '-1')).toEqual([id]);
  const events = await soundLog(deps, runId);
  expect(events.at(-1)).toMatchObject({ type: 'run.repaired', data: { class: 'approval_not_indexed' } });
  await approveFirst(deps, runId);
});

test('a parked step whose deadline is over expires, although its job sleeps on', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, { policy: { ...holdWrites.policy, approval_timeout_s: 60 } });
  await deliverAll(deps);
  const later = { ...deps, now: () => Date.now() + hour };
  await sweepOnce(later);
  await deliverAll(later);
  const { steps } = await listSteps(deps, runId);
  expect(steps[0]?.status).toBe('expired');
});

test('a Redis that lost the end of a run keeps it in the index of active runs, although a worker has seen it end', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps);
  const [state, log] = [stateKey(runId), logKey(runId)];
  const before = await Promise.all([deps.redis.dumpBuffer(state), deps.redis.dumpBuffer(log)]);
  await deliverAll(deps);
  const { run: ended } = await listSteps(deps, runId);
  for (const [place, key] of [state, log].entries()) {
    const copy = before[place];
    if (copy) await deps.redis.restore(key, 0, copy, 'REPLACE');
  }
  expect([ended.status, await statusOf(runId)]).toEqual(['succeeded', 'queued']);
  expect(await releaseUnlessDue(deps, ended)).toBe(false);
  expect(await deps.redis.zrange(activeIndex, '0', '-1')).toContain(runId);
  await sweepIn(deps, 10_000);
  await deliverAll(deps);
  expect(await statusOf(runId)).toBe('succeeded');
});

test('maintenance lists a change set that was asked for while a worker that let go of its run died', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps);
  await deliverAll(deps);
  await requestPublication(deps, runId, { by: 'test' });
  await deps.redis.zrem(activeIndex, runId);
  await collectGarbage(deps, new AbortController().signal);
  expect(await deps.redis.zrange(activeIndex, '0', '-1')).toContain(runId);
});
