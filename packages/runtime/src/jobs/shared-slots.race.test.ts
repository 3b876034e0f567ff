import { setTimeout as sleep } from 'node:timers/promises';
import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, specOf, startTestEngine, type TestEngine } from '@holdpoint/engine/testing';
import { queuePrefix, type TurnJob, type WorkerDeps } from '@holdpoint/engine/worker';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openWorker, type QueueWorker } from './open-worker.ts';

let engine: TestEngine;
let deps: WorkerDeps;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  engine = await startTestEngine();
  deps = inMemoryWorker(engine).deps;
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  await deps.redis.flushall();
});
afterAll(() => engine.stop());

/** What the handlers of all workers of a test did. Each run is one job, whose handler waits until it is let go. */
class World {
  readonly begun: string[] = [];
  readonly ended = new Set<string>();
  /** By worker: the runs that it works for. */
  readonly inside = new Map<unknown, string[]>();
  readonly tenants = new Map<string, string>();
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  async submit(tenant: string, count = 1): Promise<string[]> {
    const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant });
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const { runId } = await runs.submit({ spec: specOf([[{ args: { effect: 'read' } }]]) });
      this.tenants.set(runId, tenant);
      ids.push(runId);
    }
    return ids;
  }

  gate(id: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(id) ?? Promise.withResolvers<void>();
    this.#gates.set(id, gate);
    return gate;
  }

  open(concurrency: number, lockMs = 30_000): QueueWorker<TurnJob> {
    const inside: string[] = [];
    const kind = {
      wakeMissed: async () => {},
      handle: async (_deps: unknown, { run_id }: TurnJob) => {
        this.begun.push(run_id);
        inside.push(run_id);
        await this.gate(run_id).promise;
        inside.splice(inside.indexOf(run_id), 1);
        this.ended.add(run_id);
        return { kind: 'done' } as const;
      },
    };
    const connection = deps.redis.duplicate({ maxRetriesPerRequest: null });
    const lock = { lockDuration: lockMs, stalledInterval: Math.min(lockMs, 5000), maxStalledCount: 1000 };
    const opened = openWorker<TurnJob>(deps, queueNames.turns, kind, {
      ...{ connection, prefix: queuePrefix, concurrency, ...lock, settings: { backoffStrategy: () => 50 } },
    });
    this.inside.set(opened, inside);
    opened.worker.on('error', () => {});
    closing.push(async () => {
      for (const id of this.tenants.keys()) this.gate(id).resolve();
      await opened.worker.close();
      connection.disconnect();
    });
    return opened;
  }

  loads(worker: QueueWorker<TurnJob>): Record<string, number> {
    const loads: Record<string, number> = {};
    for (const id of this.inside.get(worker) ?? []) {
      const tenant = this.tenants.get(id) ?? '';
      loads[tenant] = (loads[tenant] ?? 0) + 1;
    }
    return loads;
  }
}

const firstWaiting = async () => (await deps.queues.turns.getPrioritized())[0]?.data.run_id;

test('a tenant that comes while another one has every slot begins at once, beside them', async () => {
  const world = new World();
  const worker = world.open(4);
  await world.submit('a', 12);
  await expect.poll(() => world.begun.length).toBe(4);
  await sleep(500);
  expect(world.loads(worker)).toEqual({ a: 4 });
  const [guest = ''] = await world.submit('b');
  await expect.poll(() => world.begun, { timeout: 5000 }).toContain(guest);
  expect(world.loads(worker)).toEqual({ a: 4, b: 1 });
  world.gate(guest).resolve();
  await expect.poll(() => worker.running.size).toBe(4);
  await sleep(500);
  expect(world.loads(worker)).toEqual({ a: 4 });
});

test('the next free slot is that of a tenant which waits, however many jobs stand before its own', async () => {
  const world = new World();
  const worker = world.open(4);
  const many = await world.submit('a', 40);
  await expect.poll(() => world.begun.length).toBe(4);
  // The reserve is used up.
  await world.submit('c');
  await expect.poll(() => world.loads(worker)).toEqual({ a: 4, c: 1 });
  const [late = ''] = await world.submit('b');
  await expect.poll(firstWaiting).toBe(late);
  expect(world.begun).not.toContain(late);
  for (const id of many.slice(0, 2)) world.gate(id).resolve();
  await expect.poll(() => world.begun, { timeout: 5000 }).toContain(late);
  expect(world.begun.filter((id) => many.includes(id))).toHaveLength(4);
});

test('tenants that both wait take turns, and one that is alone again gets all', async () => {
  const world = new World();
  const worker = world.open(4);
  const [mine, others] = [await world.submit('a', 20), await world.submit('b', 6)];
  const passed = new Set<string>();
  await expect.poll(() => world.begun.length).toBeGreaterThanOrEqual(4);
  for (let n = 0; n < 6; n++) {
    await sleep(250);
    const oldest = world.begun.find((id) => !passed.has(id)) ?? '';
    passed.add(oldest);
    world.gate(oldest).resolve();
  }
  // The order is that of the last look, so one tenant may be one ahead.
  const later = world.begun.slice(4);
  expect(later.filter((id) => others.includes(id)).length).toBeGreaterThanOrEqual(Math.floor(later.length / 2));
  for (const id of others) world.gate(id).resolve();
  await expect.poll(() => world.loads(worker), { timeout: 5000 }).toEqual({ a: 4 });
  expect(mine.some((id) => !world.begun.includes(id))).toBe(true);
});

test('a run with one job gets the next free slot, before the many of another run of its tenant', async () => {
  const world = new World();
  const [long = '', short = ''] = await world.submit('a', 2);
  for (const id of [long, short]) await (await deps.queues.turns.getJob(`turn-${id}-1`))?.remove();
  for (let turn = 1; turn <= 12; turn++) await deps.queues.addTurn({ id: long }, turn);
  world.open(2);
  await expect.poll(() => world.begun).toEqual([long, long]);
  await deps.queues.addTurn({ id: short }, 1);
  await expect.poll(firstWaiting).toBe(short);
});

test('a job that a full worker put back is taken by one with a free slot', async () => {
  const world = new World();
  const full = world.open(1);
  await world.submit('a');
  await expect.poll(() => world.begun.length).toBe(1);
  full.worker.concurrency = 2;
  await full.worker.pause(true);
  await full.worker.resume();
  // Until the full worker waits for a second job.
  await expect.poll(() => deps.redis.client('LIST')).toContain('cmd=bzpopmin');
  const [next = ''] = await world.submit('a');
  await sleep(300);
  expect(world.begun).toHaveLength(1);
  world.open(1);
  await expect.poll(() => world.begun, { timeout: 4000 }).toContain(next);
  expect(full.worker.concurrency).toBe(1);
});

test('a worker that is held takes no job for the reserve', async () => {
  const world = new World();
  const worker = world.open(1);
  await world.submit('a', 2);
  await expect.poll(() => world.begun.length).toBe(1);
  await worker.worker.pause(true);
  await world.submit('b');
  await sleep(500);
  expect(world.begun).toHaveLength(1);
  expect(worker.worker.isPaused()).toBe(true);
});

/** A number generator with a seed, so that a failure can be made again. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test.each([1, 2, 3, 4])(
  'whatever comes, ends and dies, every job is done, no tenant starves, and no slot is lost (seed %i)',
  { timeout: 90_000 },
  async (seed) => {
    const random = randomFrom(seed);
    const world = new World();
    const slots = 1 + Math.floor(random() * 5);
    const reserve = Math.ceil(slots / 4);
    const workers = [world.open(slots, 1000), world.open(slots, 1000)];
    const early: string[] = [];
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
    for (let n = 0; n < 120; n++) {
      if (random() < 0.4) await world.submit('a', 1 + Math.floor(random() * 6));
      for (const tenant of ['b', 'c']) {
        const some = random() < 0.1 ? await world.submit(tenant) : [];
        if (n < 90) early.push(...some);
      }
      const worker = workers[n % 2];
      const job = worker && pick([...worker.running]);
      if (job && random() < 0.6) world.gate(job.data.run_id).resolve();
      // Its worker dies: another one takes it. In this process, its handler stays.
      if (job && random() < 0.03) await deps.redis.del(worker.worker.toKey(`${job.id}:lock`));
      for (const one of workers) {
        const { a = 0, ...rest } = world.loads(one);
        expect(a).toBeLessThanOrEqual(slots);
        expect(a + (rest.b ?? 0) + (rest.c ?? 0)).toBeLessThanOrEqual(slots + reserve);
      }
      await sleep(20);
    }
    expect(early.filter((id) => !world.begun.includes(id))).toEqual([]);
    for (const id of world.tenants.keys()) world.gate(id).resolve();
    await expect.poll(() => world.ended.size, { timeout: 30_000, interval: 100 }).toBe(world.tenants.size);
    const left = () => deps.queues.turns.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed');
    const none = { waiting: 0, prioritized: 0, active: 0, delayed: 0, failed: 0 };
    await expect.poll(left, { timeout: 10_000 }).toEqual(none);
    await world.submit('a', 2 * slots + 3);
    const all = () => workers.map((one) => world.loads(one).a ?? 0);
    await expect.poll(all, { timeout: 10_000 }).toEqual([slots, slots]);
  },
);
