import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { viewApproval } from './view-approval.ts';

const engine = useTestEngine({ fresh: true });

async function parked() {
  const { deps } = inMemoryWorker(engine);
  const policy = { rules: [{ match: {}, action: 'hold' }] };
  const spec = specOf([[{ name: 'a', args: { effect: 'workspace' } }]], { policy });
  const { runId } = await submitRun(deps, { spec, by: 'eve' });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  return { deps, runId, view, id: view?.approval.id ?? '', stepId: view?.approval.request.step_id ?? '' };
}
const statusOf = async (runId: string) => (await listSteps(engine.deps, runId)).steps.map(({ status }) => status);

test('reads an approval that it has seen with one command', async () => {
  const { deps, id, view } = await parked();
  await deps.redis.config('RESETSTAT');
  expect(await viewApproval(deps, id)).toEqual(view);
  const stats = await deps.redis.info('commandstats');
  expect(stats).toContain('cmdstat_hmget:calls=1,');
  expect(stats).not.toContain('cmdstat_get:');
});

test('sees what other processes decide', async () => {
  const { deps, id, view } = await parked();
  const other = deps.redis.duplicate();
  await decideOn({ ...deps, redis: other }, view, { by: 'bob' });
  other.disconnect();
  expect((await viewApproval(deps, id)).approval).toMatchObject({ status: 'approved', decision: { by: 'bob' } });
});

test('does not know an approval that is gone', async () => {
  const { deps, id } = await parked();
  await deps.redis.flushall();
  await expect(viewApproval(deps, id)).rejects.toMatchObject({ code: 'approval_not_found' });
});

test('a decision wakes a call whose job was lost', async () => {
  const { deps, runId, view, stepId } = await parked();
  await (await deps.queues.steps.getJob(stepId))?.remove();
  await decideOn(deps, view);
  await deliverAll(deps);
  expect(await statusOf(runId)).toEqual(['succeeded']);
});

test('a decision changes nothing about a job that waits for a worker', async () => {
  const { deps, runId, view, stepId } = await parked();
  await (await deps.queues.steps.getJob(stepId))?.promote();
  await decideOn(deps, view);
  expect(await deps.queues.steps.getJobCounts('waiting', 'prioritized', 'delayed')).toMatchObject({ delayed: 0 });
  await deliverAll(deps);
  expect(await statusOf(runId)).toEqual(['succeeded']);
});
