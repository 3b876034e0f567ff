import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { repairsKey } from '../log/keys.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst, decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
const write = { args: { effect: 'workspace' } };
const policy = { rules: [{ match: { tool: 'count' }, action: 'hold' }] };
type Steps = InMemoryWorker['deps']['queues']['steps'];

/** The queue, with something that happens once, right before the first look for a job. */
function before(queue: Steps, act: () => Promise<void>): Steps {
  let acted: Promise<void> | undefined;
  const getJob: Steps['getJob'] = async (id) => {
    acted ??= act();
    await acted;
    return queue.getJob(id);
  };
  return new Proxy(queue, { get: (all, name) => (name === 'getJob' ? getJob : Reflect.get(all, name, all)) });
}

/** A sweep ten seconds from now, while a worker does this between the sweep's look at a step and its look for the step's job. */
async function sweepWhile(deps: InMemoryWorker['deps'], act: () => Promise<void>): Promise<void> {
  const queues = { ...deps.queues, steps: before(deps.queues.steps, act) };
  await sweepOnce({ ...deps, queues, now: () => Date.now() + 10_000 });
}

const repairsOf = async (runId: string) =>
  (await soundLog(engine.deps, runId)).filter(({ type }) => type === 'run.repaired');

test('a held call that is approved and done while a sweep looks for its job is not reported as stuck', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[write], [write]], { policy }), by: 'test' });
  await deliverAll(deps);
  await sweepWhile(deps, async () => {
    await approveFirst(deps, runId);
    await deliverAll(deps);
  });
  expect((await listSteps(deps, runId)).steps.map(({ status }) => status)).toEqual(['succeeded', 'parked']);
  expect(await repairsOf(runId)).toEqual([]);
  expect(await deps.redis.exists(repairsKey)).toBe(0);
  await approveFirst(deps, runId);
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  expect(treeOf(runId)).toHaveLength(2);
});

test('two calls whose jobs are lost are both reported', async () => {
  const { deps } = inMemoryWorker(engine);
  const read = { args: { effect: 'read' } };
  const { runId } = await submitRun(deps, { spec: specOf([[read, read]], { policy }), by: 'test' });
  await deliverAll(deps);
  await deps.queues.steps.obliterate({ force: true });
  await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  const subjects = (await repairsOf(runId)).map(({ data }) => data);
  const ids = (await listSteps(deps, runId)).steps.map(({ id }) => id);
  expect(subjects).toEqual(ids.map((subject) => ({ class: 'queued_without_job', subject })));
});

test('two jobs that sleep on although their calls are settled are both reported and released', async () => {
  const { deps } = inMemoryWorker(engine);
  const read = { args: { effect: 'read' } };
  const { runId } = await submitRun(deps, {
    spec: specOf([[read, read]], { policy, onError: 'continue' }),
    by: 'test',
  });
  await deliverAll(deps);
  const deaf = { ...deps, queues: { ...deps.queues, wakeDecided: async () => {} } };
  for (const view of await pendingApprovals(deps, runId)) await decideOn(deaf, view, { decision: 'reject' });
  await sweepOnce(deps);
  await deliverAll(deps);
  expect(await deps.queues.steps.getDelayedCount()).toBe(2);
  await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  expect(await deps.queues.steps.getDelayedCount()).toBe(0);
  const ids = (await listSteps(deps, runId)).steps.map(({ id }) => id).sort();
  const orphans = (await repairsOf(runId)).flatMap((event) =>
    event.type === 'run.repaired' && event.data.class === 'orphaned_delayed_job' ? [event.data.subject] : [],
  );
  expect(orphans.sort()).toEqual(ids);
});

test('a call whose deadline has passed is stuck while its job sleeps on, and not while its job waits for a worker', async () => {
  const { deps } = inMemoryWorker(engine);
  const spec = specOf([[write]], { policy: { ...policy, approval_timeout_s: 60 } });
  const submit = async () => (await submitRun(deps, { spec, by: 'test' })).runId;
  const [asleep, awake] = [await submit(), await submit()];
  await deliverAll(deps);
  const [waiting] = (await listSteps(deps, awake)).steps;
  await (await deps.queues.steps.getJob(waiting?.id ?? ''))?.promote();
  const later = { ...deps, now: () => Date.now() + 70_000 };
  await sweepOnce(later);
  expect(await repairsOf(awake)).toEqual([]);
  expect(await repairsOf(asleep)).toMatchObject([{ data: { class: 'expired' } }]);
  await deliverAll(later);
  for (const runId of [asleep, awake]) {
    expect((await listSteps(deps, runId)).steps.map(({ status }) => status)).toEqual(['expired']);
  }
});
