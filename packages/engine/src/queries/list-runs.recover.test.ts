import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listApprovals } from '../approvals/list-approvals.ts';
import { requestCancel, requestPause, submitRun } from '../commands/index.ts';
import { approvalFacetIndexOf, repairsKey, statusIndexOf } from '../log/keys.ts';
import { lastEventAt } from '../log/read-log.ts';
import { approveFirst } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, openSpec, specOf, sweepOnce } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { listRuns, type RunFilter, readTotals } from './index.ts';

const engine = useTestEngine({ fresh: true });
const call = { args: { effect: 'workspace' } };
const hold = { policy: { rules: [{ match: { tool: 'count' }, action: 'hold' }] } };

/** Ids sort by their millisecond, so each run has one of its own. */
async function submit(deps: Parameters<typeof submitRun>[0], labels: Record<string, string>, held = true) {
  await setTimeout(2);
  return (await submitRun(deps, { spec: { ...specOf([[call]], held ? hold : {}), labels }, by: 'test' })).runId;
}

async function pagesOf(filter: RunFilter, limit = 2): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await listRuns(engine.deps, filter, { limit, cursor });
    pages.push(items.map(({ id }) => id));
    if (next === undefined) return pages;
    cursor = next;
  }
}

test('filters are combined, pages are cut as they are without a list, and a moving run changes its list', async () => {
  const { deps } = inMemoryWorker(engine);
  const red = [
    await submit(deps, { team: 'red' }),
    await submit(deps, { team: 'red' }),
    await submit(deps, { team: 'red' }),
  ];
  const blue = [await submit(deps, { team: 'blue' }, false), await submit(deps, { team: 'blue' }, false)];
  await deliverAll(deps);
  const [first = '', second = '', third = ''] = red;
  const [fourth = '', fifth = ''] = blue;
  const team = (value: string) => ({ label: { name: 'team', value } });
  expect(await pagesOf({})).toEqual([[fifth, fourth], [third, second], [first]]);
  expect(await pagesOf({ status: ['waiting'] })).toEqual([[third, second], [first]]);
  expect(await pagesOf({ status: ['waiting', 'succeeded'] })).toEqual([[fifth, fourth], [third, second], [first]]);
  expect(await pagesOf({ status: ['waiting', 'succeeded'], ...team('red') })).toEqual([[third, second], [first]]);
  expect(await pagesOf({ status: ['succeeded'], ...team('red') })).toEqual([[]]);
  expect(await pagesOf({ ...team('green') })).toEqual([[]]);
  await requestPause(deps, second, 'test');
  await approveFirst(deps, third);
  await deliverAll(deps);
  expect(await pagesOf({ status: ['waiting', 'paused'] })).toEqual([[second, first]]);
  expect(await pagesOf({ status: ['succeeded'], ...team('red') })).toEqual([[third]]);
  expect((await readTotals(deps.redis)).active.toSorted((a, b) => (a.state < b.state ? -1 : 1))).toEqual([
    { state: 'paused', reason: 'paused_by_hand', count: 1 },
    { state: 'waiting', reason: 'approval', count: 1 },
  ]);
  expect(await readTotals(deps.redis)).toMatchObject({ ended: 3, approvals: 2 });
  const { oldestPauseAt } = await readTotals(deps.redis);
  expect(oldestPauseAt).toBe(await lastEventAt(deps.redis, second));
  // A wrong entry of the list: this run has ended.
  await deps.redis.zadd(statusIndexOf('default', 'paused'), 0, fifth);
  expect((await readTotals(deps.redis)).oldestPauseAt).toBe(oldestPauseAt);
  await deps.redis.zrem(statusIndexOf('default', 'paused'), second);
  expect((await readTotals(deps.redis)).oldestPauseAt).toBeUndefined();
});

test('approvals are found by tool, run and label until they are decided', async () => {
  const { deps } = inMemoryWorker(engine);
  const runs = [
    await submit(deps, { team: 'red' }),
    await submit(deps, { team: 'red' }),
    await submit(deps, { team: 'blue' }),
  ];
  await deliverAll(deps);
  const found = async (filter: Parameters<typeof listApprovals>[1]) =>
    (await listApprovals(deps, filter, { limit: 10 })).items.map(({ run }) => run.id);
  const [first = '', second = '', third = ''] = runs;
  const red = { label: { name: 'team', value: 'red' } };
  expect(await found({ tool: 'count' })).toEqual([third, second, first]);
  expect(await found({ tool: 'count', ...red })).toEqual([second, first]);
  expect(await found({ run_id: first, ...red })).toEqual([first]);
  expect(await found({ run_id: third, ...red })).toEqual([]);
  expect(await found({ tool: 'other' })).toEqual([]);
  expect(await found({ before: Date.now() })).toEqual([third, second, first]);
  expect(await found({ before: Date.now() - 3_600_000 })).toEqual([]);
  await approveFirst(deps, second);
  await requestCancel(deps, third, { by: 'test' });
  await deliverAll(deps);
  expect(await found({ tool: 'count' })).toEqual([first]);
  const kept = await deps.redis.keys('hp:{approvals:*');
  const sizes = await Promise.all(kept.filter((key) => !key.endsWith(':facets')).map((key) => deps.redis.zcard(key)));
  expect(sizes).toEqual(kept.filter((key) => !key.endsWith(':facets')).map(() => 1));
});

test('a round corrects entries that are missing, or are left of an append that never came', async () => {
  const { deps } = inMemoryWorker(engine);
  const held = await submit(deps, {});
  const open = (await submitRun(deps, { spec: openSpec(), by: 'test' })).runId;
  await deliverAll(deps);
  await deps.redis.zrem(statusIndexOf('default', 'waiting'), held);
  await deps.redis.zadd(statusIndexOf('default', 'canceling'), 0, open);
  await deps.redis.zrem(approvalFacetIndexOf('default', 'tool:count'), ...(await pendingIds()));
  expect(await pagesOf({ status: ['waiting'] })).toEqual([[open]]);
  // What is not so is skipped.
  expect(await pagesOf({ status: ['canceling'] })).toEqual([[]]);
  await sweepOnce(deps);
  expect(await pagesOf({ status: ['waiting'] })).toEqual([[open, held]]);
  expect(await deps.redis.zcard(statusIndexOf('default', 'canceling'))).toBe(0);
  expect((await listApprovals(deps, { tool: 'count' }, { limit: 10 })).items).toHaveLength(1);
  expect(await deps.redis.hget(repairsKey, 'unlisted')).toBe('3');

  async function pendingIds(): Promise<string[]> {
    return (await listApprovals(deps, {}, { limit: 10 })).items.map(({ approval }) => approval.id);
  }
});
