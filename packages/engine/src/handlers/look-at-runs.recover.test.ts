import { expect, test } from 'vitest';
import { decideApproval } from '../approvals/decide-approval.ts';
import { listApprovals } from '../approvals/list-approvals.ts';
import { submitRun } from '../commands/index.ts';
import { activeIndex, approvalIndex, lookIndex } from '../log/keys.ts';
import { listSteps } from '../queries/index.ts';
import { copyRun } from '../testing/copy-run.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { sweep } from './sweep.ts';

const engine = useTestEngine({ fresh: true });
const call = { args: { effect: 'workspace' } };
const hold = { policy: { rules: [{ match: { tool: 'count' }, action: 'hold' }] } };
const minute = 60_000;

/** A sweep as a worker makes it, so many milliseconds from now. */
const sweepIn = (deps: InMemoryWorker['deps'], ms: number) =>
  sweep({ ...deps, now: () => Date.now() + ms }, new AbortController().signal);

/** Runs that were looked at and are at rest. */
async function parked(copies: number) {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[call]], hold), by: 'test' });
  await deliverAll(deps);
  const runs = [runId, ...(await copyRun(deps.redis, runId, copies))];
  await sweepIn(deps, 10_000);
  return { deps, runs };
}

/** The commands of a sweep to Redis. */
async function commandsOf(work: () => Promise<void>): Promise<number> {
  const count = async () => Number(/total_commands_processed:(\d+)/.exec(await engine.deps.redis.info('stats'))?.[1]);
  const before = await count();
  await work();
  return (await count()) - before;
}

test('a sweep over runs at rest reads a slice of them, however many there are', async () => {
  const { deps } = await parked(30);
  const few = await commandsOf(() => sweepIn(deps, minute));
  const { runs } = await parked(600);
  expect(await deps.redis.zcount(lookIndex, '-inf', Date.now() + 10 * minute)).toBe(0);
  const many = await commandsOf(() => sweepIn(deps, minute));
  expect(runs.length).toBe(601);
  // 31 runs are fewer than the least slice, which is 100.
  expect(many).toBeLessThan(few * 5);
});

test('rounds find a lost job, a lost entry and a lost place among runs at rest', async () => {
  const { deps, runs } = await parked(400);
  const [first = '', second = '', third = ''] = runs;
  const stepOf = async (runId: string) => (await listSteps(deps, runId)).steps[0];
  const lost = (await stepOf(first))?.id ?? '';
  await (await deps.queues.steps.getJob(lost))?.remove();
  const unlisted = (await stepOf(second))?.approval ?? '';
  await deps.redis.zrem(approvalIndex, unlisted);
  await deps.redis.zrem(activeIndex, third);
  await deps.redis.zrem(lookIndex, third);
  for (let round = 0; round < 12; round++) await sweepIn(deps, minute);
  expect(await deps.queues.steps.getJob(lost)).toBeDefined();
  expect(await deps.redis.zscore(approvalIndex, unlisted)).not.toBeNull();
  expect(await deps.redis.zscore(activeIndex, third)).not.toBeNull();
  expect((await soundLog(deps, first)).at(-1)?.type).toBe('run.repaired');
});

test('a decision whose wake-up was lost is found by the next sweep, among many runs', async () => {
  const { deps, runs } = await parked(400);
  const runId = runs[300] ?? '';
  const { items } = await listApprovals(deps, { run_id: runId }, { limit: 1 });
  const { approval, digest } = items[0] ?? {};
  const deaf = { ...deps, queues: { ...deps.queues, wakeDecided: async () => {} } };
  await decideApproval(deaf, approval?.id ?? '', { by: 'test', decision: 'approve', action_digest: digest ?? '' });
  const stepId = approval?.request.step_id ?? '';
  expect(await (await deps.queues.steps.getJob(stepId))?.isDelayed()).toBe(true);
  await sweepIn(deps, 10_000);
  expect(await (await deps.queues.steps.getJob(stepId))?.isDelayed()).toBe(false);
});

test('a deadline is met although its job sleeps on, among many runs', async () => {
  const { deps } = inMemoryWorker(engine);
  const policy = { ...hold.policy, approval_timeout_s: 600 };
  const { runId } = await submitRun(deps, { spec: specOf([[call]], { policy }), by: 'test' });
  await deliverAll(deps);
  await copyRun(deps.redis, runId, 300);
  await sweepIn(deps, 10_000);
  await sweepIn(deps, 11 * minute);
  expect(await deps.queues.steps.getDelayedCount()).toBe(0);
});
