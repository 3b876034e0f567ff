import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAdmission } from '../admission/admission.ts';
import { requestCancel, requestPause, requestResume } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { readRun, readWholeLog } from '../log/index.ts';
import { readPlaceWait } from '../queries/index.ts';
import { inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { type JobTaker, openJobTaker } from '../testing/job-taker.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { reviewPlaces } from './take-place.ts';

const engine = useTestEngine({ fresh: true });
let taker: JobTaker;
beforeAll(() => {
  taker = openJobTaker(engine.deps);
});
afterAll(() => taker.close());

/** Too long for a short run. */
const spec = specOf(Array.from({ length: 4 }, () => [{ args: { effect: 'read' } }]));
const holding = specOf([[{ args: { effect: 'workspace' } }]], {
  policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] },
});

/** A worker with one place. @param lateMs the clocks of the worker and of its places are so far ahead */
function worker(lateMs = 0): WorkerDeps {
  const { deps } = inMemoryWorker(engine);
  const now = () => Date.now() + lateMs;
  const wake = ({ runId, turn }: { runId: string; turn: number }) => deps.queues.releaseTurn(runId, turn);
  const places = { working: 1, asking: 1 };
  return { ...deps, now, admission: openAdmission({ redis: deps.redis, workerId: 'w1', places, wake, now }) };
}

const submit = async (deps: WorkerDeps, one = spec): Promise<string> =>
  (await submitRun(deps, { spec: one, by: 'ann' })).runId;
const statusOf = async (deps: WorkerDeps, id: string) => (await readRun(deps.redis, id))?.status;

/** Handles a turn job, as a worker does. */
async function turn(deps: WorkerDeps): Promise<void> {
  const job = await taker.take('turns');
  if (job === undefined) throw new Error('no turn is due');
  await job.end(deps, await job.handle(deps));
}

/** A run with the only place, after its first turn, and a run in line. */
async function crowd(deps: WorkerDeps): Promise<[string, string]> {
  const first = await submit(deps);
  await turn(deps);
  const second = await submit(deps);
  await turn(deps);
  expect(await deps.admission?.standing(second)).toMatchObject({
    state: 'line',
    waiting: 1,
    working: { used: 1, of: 1 },
  });
  return [first, second];
}

test('a run in line says which place it waits for, and how many stand before it', async () => {
  const deps = worker();
  const [first, second] = await crowd(deps);
  const third = await submit(deps);
  await turn(deps);
  const waitOf = async (id: string) => {
    const run = await readRun(deps.redis, id);
    return run && readPlaceWait(deps, run);
  };
  expect(await Promise.all([first, second, third].map(waitOf))).toEqual([
    undefined,
    { ahead: 0, inProgress: 1, of: 1 },
    { ahead: 1, inProgress: 1, of: 1 },
  ]);
  await taker.deliverRest(deps);
  expect(await Promise.all([first, second, third].map(waitOf))).toEqual([undefined, undefined, undefined]);
});

test('the next run begins when one ends', async () => {
  const deps = worker();
  const runs = await crowd(deps);
  await taker.deliverRest(deps);
  for (const id of runs) expect(await statusOf(deps, id)).toBe('succeeded');
  expect(await deps.admission?.standing()).toMatchObject({ working: { used: 0 }, waiting: 0 });
});

test('a run that waits for a person has no place, and needs none to continue', async () => {
  const deps = worker();
  const held = await submit(deps, holding);
  const other = await submit(deps);
  await taker.deliverRest(deps);
  expect(await statusOf(deps, held)).toBe('waiting');
  expect(await statusOf(deps, other)).toBe('succeeded');
});

test('a worker that dies before it gives a place back costs seconds: the log of the run decides', async () => {
  const dead = worker();
  const [first, second] = await crowd(dead);
  await requestPause(dead, first, 'ann');
  // Another process, without knowledge of the dead process's runs.
  await reviewPlaces(worker());
  expect((await worker().admission?.standing(second))?.state).toBe('line');
  await reviewPlaces(worker(4000));
  expect((await worker(4000).admission?.standing(second))?.state).toBe('held');
  await taker.deliverRest(worker(4000));
  expect(await statusOf(dead, second)).toBe('succeeded');
  await requestResume(dead, first, { by: 'ann' });
  await taker.deliverRest(worker(4000));
  expect(await statusOf(dead, first)).toBe('succeeded');
});

test('a run that was given a place by a worker that died at once is woken', async () => {
  const deps = worker();
  const [first, second] = await crowd(deps);
  const silent = openAdmission({
    redis: deps.redis,
    workerId: 'w1',
    places: { working: 1, asking: 1 },
    wake: async () => {},
  });
  await silent.leave(first, { force: true });
  expect((await silent.standing(second)).state).toBe('held');
  await reviewPlaces(worker(4000));
  await turn(deps);
  expect(await statusOf(deps, second)).toBe('running');
});

test('the sweep finds and names a run that waits for a place which is free', async () => {
  const deps = worker();
  const [, second] = await crowd(deps);
  // Redis lost who has a place; its workers say nothing.
  await deps.redis.del('hp:{admission}:held');
  await sweepOnce(worker(10_000));
  const repairs = (await Array.fromAsync(readWholeLog(deps.redis, second))).filter(
    ({ type }) => type === 'run.repaired',
  );
  expect(repairs.map(({ data }) => data)).toEqual([{ class: 'waiting_for_free_place' }]);
  await taker.deliverRest(deps);
  expect(await statusOf(deps, second)).toBe('succeeded');
});

test('the sweep finds a run that fell out of line', async () => {
  const deps = worker();
  const [, second] = await crowd(deps);
  for (const name of ['line', 'lines', 'lines:w default']) await deps.redis.del(`hp:{admission}:${name}`);
  await sweepOnce(worker(10_000));
  await taker.deliverRest(deps);
  expect(await statusOf(deps, second)).toBe('succeeded');
});

test('a run that is canceled in line leaves it', async () => {
  const deps = worker();
  const [, second] = await crowd(deps);
  await requestCancel(deps, second, { by: 'ann' });
  await turn(deps);
  expect(await deps.admission?.standing(second)).toMatchObject({ state: 'none', waiting: 0 });
  expect(await statusOf(deps, second)).toBe('canceled');
});

test('runs that all come back from people are brought to the bound again, one turn later', async () => {
  const deps = worker();
  const runs = [await submit(deps), await submit(deps), await submit(deps)];
  for (const id of runs) {
    await deps.admission?.leave(runs[0] ?? '', { force: true });
    await deps.admission?.leave(runs[1] ?? '', { force: true });
    await turn(deps);
    expect(await statusOf(deps, id)).toBe('running');
  }
  // All have begun, as this process's work for them shows.
  for (const id of runs) {
    const run = await readRun(deps.redis, id);
    if (run) deps.admission?.mayContinue(run);
  }
  await reviewPlaces(deps);
  expect(await deps.admission?.standing()).toMatchObject({ working: { used: 3, of: 1 } });
  await reviewPlaces(deps);
  const yields = await Promise.all(
    runs.map(async (id) => {
      const run = await readRun(deps.redis, id);
      return run && deps.admission?.mayContinue(run);
    }),
  );
  expect(yields).toContain(false);
  await taker.deliverRest(deps);
  for (const id of runs) expect(await statusOf(deps, id)).toBe('succeeded');
});
