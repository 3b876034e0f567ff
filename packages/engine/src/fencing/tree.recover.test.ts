import type { LoggedEvent } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { repairsKey } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { copyingAt } from '../testing/lagging-copy.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

/** Between the appends before which Redis goes back: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 3;
const write = () => ({ args: { effect: 'workspace' } });
const read = () => ({ args: { effect: 'read' } });
const submit = async (deps: InMemoryWorker['deps'], spec: ReturnType<typeof specOf>) =>
  (await submitRun(deps, { spec, by: 'test' })).runId;
const dataOf = (events: LoggedEvent[], type: LoggedEvent['type']) =>
  events.flatMap((event) => (event.type === type ? [event.data] : []));

test.each(['other_boot', 'tree_changed'] as const)(
  '%s: a decided step runs on a new tree, and the log says why',
  async (reason) => {
    const faults: NonNullable<Parameters<typeof inMemoryWorker>[1]> = {};
    const { deps, treeOf } = inMemoryWorker(engine, faults);
    const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] };
    const runId = await submit(deps, specOf([[write()], [write()]], { policy }));
    await deliverAll(deps);
    await approveFirst(deps, runId);
    await deliverAll(deps);
    const [first] = treeOf(runId);
    // The machine loses what the first step wrote, while the second one waits.
    treeOf(runId).length = 0;
    faults.tree = reason;
    await approveFirst(deps, runId);
    await deliverAll(deps);
    const events = await soundLog(deps, runId);
    const { run, steps } = await listSteps(deps, runId);
    expect(run.status).toBe('succeeded');
    expect(treeOf(runId)).toEqual(steps.map(({ id }) => id));
    expect(treeOf(runId)[0]).toBe(first);
    expect(dataOf(events, 'workspace.distrusted')).toEqual([{ epoch: 1, reason, detail: 'asked for' }]);
    expect(dataOf(events, 'workspace.leased')).toMatchObject([{ epoch: 2 }]);
    expect(steps.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(Number(await deps.redis.hget(repairsKey, reason))).toBeGreaterThan(0);
  },
);

test('a held call is shown only on a tree that is right', async () => {
  const { deps } = inMemoryWorker(engine, { tree: 'tree_changed' });
  const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] };
  const runId = await submit(deps, specOf([[write()]], { policy }));
  await deliverAll(deps);
  const order = (await soundLog(deps, runId)).map(({ type }) => type);
  expect(order.indexOf('workspace.restored')).toBeGreaterThan(0);
  expect(order.indexOf('workspace.restored')).toBeLessThan(order.indexOf('approval.requested'));
});

test('Redis goes back to before any one append: every step is in the files exactly once, and the log says it', async () => {
  const seen = new Set<unknown>();
  for (let n = 2; ; n += stride) {
    const { deps, treeOf } = inMemoryWorker(engine);
    await deps.redis.flushdb();
    const { redis, copy } = copyingAt(deps.redis, n);
    const runId = await submit({ ...deps, redis }, specOf([[write(), read()], [write()], [read(), write()]]));
    await deliverAll({ ...deps, redis });
    expect(treeOf(runId)).toHaveLength(3);
    const lagging = copy();
    if (lagging === undefined) break;
    await lagging.restore();
    // Wake-ups that belong to what was lost are lost with it.
    await sweepOnce({ ...deps, now: () => Date.now() + 20_000 });
    await deliverAll(deps);
    const { run, steps } = await listSteps(deps, runId);
    const writes = steps.filter(({ effect }) => effect === 'workspace').map(({ id }) => id);
    expect([n, run.status, treeOf(runId)]).toEqual([n, 'succeeded', writes]);
    const events = await soundLog(deps, runId);
    for (const { reason } of dataOf(events, 'workspace.distrusted') as { reason: unknown }[]) seen.add(reason);
  }
  expect([...seen]).toEqual(['log_went_back']);
});

test('Redis goes back while a background command waits for its snapshot: the snapshot holds nothing that the log has forgotten', async () => {
  const shell = { name: 'bg', args: { effect: 'workspace', background: 'hello' } };
  const wait = { args: { effect: 'read', awaits: { $from: 'bg', pointer: '/task_id' } } };
  const ends = new Set<unknown>();
  for (let n = 2; ; n += stride) {
    const { deps, treeOf } = inMemoryWorker(engine);
    await deps.redis.flushdb();
    const { redis, copy } = copyingAt(deps.redis, n);
    const runId = await submit({ ...deps, redis }, specOf([[shell], [write()], [wait], [write()]]));
    await deliverAll({ ...deps, redis });
    const lagging = copy();
    if (lagging === undefined) break;
    await lagging.restore();
    await sweepOnce({ ...deps, now: () => Date.now() + 20_000 });
    await deliverAll(deps);
    const { run, steps } = await listSteps(deps, runId);
    const written = steps.filter(({ effect }) => effect === 'workspace');
    // What the command wrote is there, or dropped with its tree.
    const tree = treeOf(runId).filter((id) => id.startsWith('step_'));
    expect([n, run.status, tree]).toEqual([n, 'succeeded', written.map(({ id }) => id)]);
    const events = await soundLog(deps, runId);
    for (const { status } of dataOf(events, 'task.ended') as { status: unknown }[]) ends.add(status);
  }
  // Its changes cannot be separated from those of the step that Redis lost, so they are dropped, and the task says so.
  expect([...ends].sort()).toEqual(['completed', 'lost']);
});
