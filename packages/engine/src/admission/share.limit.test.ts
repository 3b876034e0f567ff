import type { RunSpec } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import type { RunState } from '../domain/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { type Admission, openAdmission } from './admission.ts';

const engine = useTestEngine({ fresh: true });

/** A number generator with a seed, so a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

interface Life {
  id: string;
  tenant: string;
  planner: 'scripted' | 'model';
  priority: 'high' | 'normal' | 'low';
  /** All steps of the run. */
  of: number;
  steps: number;
  createdAt: number;
  beganAt?: number;
  endedAt?: number;
  awake: boolean;
}

/** Runs in the same admission, without workers: time and steps are numbers. */
class World {
  now = Date.UTC(2030, 0, 1);
  readonly lives = new Map<string, Life>();
  readonly admission: Admission;
  most = 0;

  readonly places: number;

  constructor(places: number, asking = places) {
    this.places = places;
    this.admission = openAdmission({
      ...{ redis: engine.deps.redis, workerId: 'w1', places: { working: places, asking }, now: () => this.now },
      wake: async ({ runId }) => {
        const life = this.lives.get(runId);
        if (life) life.awake = true;
      },
    });
  }

  submit(life: Partial<Life> & { id: string }): Life {
    const one: Life = {
      ...{ tenant: 'default', planner: 'scripted', priority: 'normal', of: 20, steps: 0, awake: true },
      ...{ createdAt: this.now, ...life },
    };
    this.lives.set(one.id, one);
    return one;
  }

  /** A second: each awake run makes a turn of one step, if the admission allows the turn. @param slots steps per second of all runs */
  async tick(slots = this.places + 2 * Math.ceil(this.places / 4)): Promise<void> {
    this.now += 1000;
    const queue = [...this.lives.values()].filter(({ awake, endedAt }) => awake && endedAt === undefined);
    let made = 0;
    for (const life of queue) {
      if (!(await this.admission.enter(stateOf(life), specOf(life)))) {
        life.awake = false;
        continue;
      }
      if (made >= slots) continue;
      made += 1;
      life.beganAt ??= this.now;
      life.steps += 1;
      if (life.steps < life.of) continue;
      life.endedAt = this.now;
      await this.admission.leave(life.id);
    }
    const { working, asking } = await this.admission.standing();
    this.most = Math.max(this.most, working.used + asking.used);
  }

  get open(): Life[] {
    return [...this.lives.values()].filter(({ endedAt }) => endedAt === undefined);
  }
}

const stateOf = ({ id, tenant, planner, steps, createdAt }: Life): RunState =>
  ({
    ...{ id, tenant, steps, turn: steps, status: steps === 0 ? 'queued' : 'running' },
    ...{ header: { planner }, created_at: new Date(createdAt).toISOString() },
  }) as RunState;

const specOf = ({ planner, priority, of }: Life): RunSpec => {
  const steps = Array.from({ length: of }, () => ({ tool: 'read', args: {} }));
  const goal = planner === 'model' ? { planner } : { planner, plan: { groups: [{ steps }] } };
  return { goal, priority } as RunSpec;
};

describe('runs in progress', () => {
  it('are bounded, and the first of a crowd ends before a tenth of all steps is made', async () => {
    const world = new World(8);
    for (let n = 0; n < 200; n++) world.submit({ id: `run_${n}` });
    let madeAtFirstEnd: number | undefined;
    while (world.open.length > 0) {
      await world.tick();
      const made = [...world.lives.values()].reduce((sum, { steps }) => sum + steps, 0);
      if (world.open.length < 200) madeAtFirstEnd ??= made;
    }
    expect(world.most).toBe(8);
    expect(madeAtFirstEnd).toBeLessThanOrEqual(200);
  });

  it('let a short run pass the long ones of its tenant that have not begun', async () => {
    const world = new World(4);
    for (let n = 0; n < 60; n++) world.submit({ id: `run_${n}` });
    for (let n = 0; n < 30; n++) await world.tick();
    const short = world.submit({ id: 'run_short', of: 1 });
    const at = world.now;
    while (short.endedAt === undefined) await world.tick();
    expect((short.endedAt - at) / 1000).toBeLessThanOrEqual(20);
    expect(world.open.length).toBeGreaterThan(40);
  });

  it('let a short run begin at once beside long ones of its tenant, but not any number of short runs', async () => {
    const world = new World(8);
    for (let n = 0; n < 60; n++) world.submit({ id: `run_${n}`, of: 10_000 });
    for (let n = 0; n < 5; n++) await world.tick();
    // All in line stand before the short ones.
    world.now += 3 * 3_600_000;
    for (let n = 0; n < 10; n++) world.submit({ id: `run_short_${n}`, of: 2 });
    world.most = 0;
    await world.tick(100);
    const begun = [...world.lives.values()].filter(({ id, steps }) => id.startsWith('run_short') && steps > 0);
    expect(begun).toHaveLength(2);
    expect(world.most).toBe(10);
    for (let n = 0; n < 12; n++) await world.tick(100);
    expect([...world.lives.values()].filter(({ id, endedAt }) => id.startsWith('run_short') && !endedAt)).toEqual([]);
    const guest = world.submit({ id: 'run_guest', tenant: 'b', of: 10_000 });
    await world.tick(100);
    expect(guest.steps).toBe(1);
  });

  it('give long runs no place for ever: one that waits gets it after a quantum', async () => {
    const world = new World(4);
    for (let n = 0; n < 4; n++) world.submit({ id: `run_long_${n}`, of: 10_000 });
    for (let n = 0; n < 5; n++) await world.tick();
    const short = world.submit({ id: 'run_short', of: 2 });
    const at = world.now;
    while (short.endedAt === undefined) await world.tick();
    expect((short.endedAt - at) / 1000).toBeLessThanOrEqual(40);
  });

  it('take a tenant in at once that comes while another one has every place', async () => {
    const world = new World(8);
    for (let n = 0; n < 40; n++) world.submit({ id: `run_a${n}`, tenant: 'a', of: 10_000 });
    for (let n = 0; n < 5; n++) await world.tick();
    const guest = world.submit({ id: 'run_guest', tenant: 'b', of: 1 });
    await world.tick(100);
    expect(guest.endedAt).toBe(world.now);
  });

  it('share the places equally between tenants, however many runs each has', async () => {
    const world = new World(8);
    for (let n = 0; n < 40; n++) world.submit({ id: `run_a${n}`, tenant: 'a', of: 1000 });
    for (let n = 0; n < 10; n++) await world.tick();
    for (let n = 0; n < 6; n++) world.submit({ id: `run_b${n}`, tenant: 'b', of: 1000 });
    for (let n = 0; n < 10; n++) await world.tick();
    const before = stepsBy(world);
    for (let n = 0; n < 100; n++) await world.tick();
    const after = stepsBy(world);
    const [a, b] = ['a', 'b'].map((tenant) => (after[tenant] ?? 0) - (before[tenant] ?? 0)) as [number, number];
    expect(b / a).toBeGreaterThan(0.8);
    expect(b / a).toBeLessThan(1.25);
  });

  it('begin by priority: high before normal, and low last, whatever the order in which they came', async () => {
    const world = new World(1);
    world.submit({ id: 'run_first', of: 5 });
    await world.tick();
    for (const priority of ['low', 'normal', 'high'] as const) world.submit({ id: `run_${priority}`, of: 4, priority });
    while (world.open.length > 0) await world.tick();
    const began = [...world.lives.values()].toSorted((a, b) => (a.beganAt ?? 0) - (b.beganAt ?? 0));
    expect(began.map(({ id }) => id)).toEqual(['run_first', 'run_high', 'run_normal', 'run_low']);
  });

  it('let a run of low priority move under an endless stream of normal ones', async () => {
    const world = new World(2);
    const low = world.submit({ id: 'run_low', of: 3, priority: 'low' });
    for (let n = 0; low.endedAt === undefined && n < 4000; n++) {
      world.submit({ id: `run_n${n}`, of: 3 });
      await world.tick();
      for (const life of world.lives.values())
        if (life.endedAt !== undefined && life !== low) world.lives.delete(life.id);
    }
    expect(low.endedAt).toBeDefined();
  }, 60_000);

  it('count runs that ask a model apart: they take no place from those that work', async () => {
    const world = new World(2, 3);
    for (let n = 0; n < 6; n++) world.submit({ id: `run_m${n}`, planner: 'model', of: 1000 });
    for (let n = 0; n < 3; n++) await world.tick();
    world.submit({ id: 'run_s', of: 1 });
    await world.tick();
    const { working, asking } = await world.admission.standing();
    expect(asking.used).toBe(3);
    expect(working.used).toBeLessThanOrEqual(1);
  });
});

const stepsBy = ({ lives }: World): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const { tenant, steps } of lives.values()) sums[tenant] = (sums[tenant] ?? 0) + steps;
  return sums;
};

describe('whatever comes, goes, dies and is forgotten', () => {
  it.each([1, 2, 3, 4, 5, 6])('no place is lost and no run starves (seed %i)', { timeout: 60_000 }, async (seed) => {
    const random = randomFrom(seed);
    const world = new World(1 + Math.floor(random() * 6), 1 + Math.floor(random() * 4));
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    for (let n = 0; n < 300; n++) {
      if (random() < 0.3) {
        world.submit({
          ...{ id: `run_${n}`, tenant: pick(['a', 'b', 'c']), planner: pick(['scripted', 'scripted', 'model']) },
          ...{ priority: pick(['high', 'normal', 'low']), of: pick([1, 2, 5, 40]) },
        });
      }
      await world.tick();
      const victim = world.open.length > 0 ? pick(world.open) : undefined;
      const dice = random();
      // Canceled: its worker says so, or died first.
      if (victim && dice < 0.05) {
        victim.endedAt = world.now;
        if (random() < 0.5) await world.admission.leave(victim.id, { force: true });
      }
      // The worker died between the script and the wake-up.
      if (victim && dice > 0.95) victim.awake = false;
      if (dice > 0.99) await engine.deps.redis.flushall();
      await review(world);
    }
    for (let n = 0; world.open.length > 0 && n < 3000; n++) {
      await world.tick();
      await review(world);
    }
    expect(world.open).toEqual([]);
    for (let n = 0; n < 400; n++) {
      world.now += 1000;
      await review(world);
    }
    expect(await world.admission.standing()).toMatchObject({ working: { used: 0 }, asking: { used: 0 }, waiting: 0 });
  });
});

/** As in `reviewPlaces`, with the lives for logs. A sleeping job asks again without a wake-up after a minute. */
async function review(world: World): Promise<void> {
  const idle = await world.admission.review();
  for (const id of idle) {
    const life = world.lives.get(id);
    if (life === undefined || life.endedAt !== undefined) await world.admission.leave(id, { force: true });
    else life.awake = true;
  }
  await world.admission.touch(idle.filter((id) => world.lives.get(id)?.endedAt === undefined));
  if (world.now % 60_000 === 0) for (const life of world.open) life.awake = true;
}
