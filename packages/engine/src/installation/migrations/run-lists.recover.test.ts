import { expect, test } from 'vitest';
import { listApprovals } from '../../approvals/list-approvals.ts';
import { submitRun } from '../../commands/submit-run.ts';
import { idleFactsKey, lookIndex } from '../../log/keys.ts';
import { listRuns } from '../../queries/index.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../../testing/index.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { runLists } from './run-lists.ts';

const engine = useTestEngine();
const call = { args: { effect: 'workspace' } };

test('lists are made from states of format 2, also when a try died', async () => {
  const { deps } = inMemoryWorker(engine);
  const spec = { ...specOf([[call]], { policy: { rules: [{ match: { tool: 'count' }, action: 'hold' }] } }) };
  const held = await submitRun(deps, { spec: { ...spec, labels: { team: 'red' } }, by: 'test' });
  const done = await submitRun(deps, { spec: specOf([[call]]), by: 'test', tenant: 'acme' });
  await deliverAll(deps);
  const before = await lists();
  expect(before).toEqual([[held.runId], [held.runId], [done.runId], 1]);
  const kept = await deps.redis.keys('hp:{runs:*');
  await deps.redis.del(...kept, ...(await deps.redis.keys('hp:{approvals:*')), lookIndex, idleFactsKey);
  expect(await lists()).toEqual([[], [], [], 0]);
  const sides = { redis: deps.redis, dataDir: engine.directory };
  await runLists.run(sides);
  await runLists.run(sides);
  expect(await lists()).toEqual(before);
  expect(await deps.redis.zcard(lookIndex)).toBe(1);
  await sweepOnce(deps);
  expect(await lists()).toEqual(before);

  async function lists() {
    const page = { limit: 10 };
    const [waiting, red, over, approvals] = await Promise.all([
      listRuns(deps, { status: ['waiting', 'queued'] }, page),
      listRuns(deps, { label: { name: 'team', value: 'red' } }, page),
      listRuns(deps, { status: ['succeeded'], tenant: 'acme' }, page),
      listApprovals(deps, { tool: 'count', label: { name: 'team', value: 'red' } }, page),
    ]);
    return [...[waiting, red, over].map(({ items }) => items.map(({ id }) => id)), approvals.items.length];
  }
});
