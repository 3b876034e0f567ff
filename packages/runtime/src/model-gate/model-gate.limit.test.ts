import { startTestEngine, type TestEngine } from '@holdpoint/engine/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openModelGate, type ProviderRates } from './model-gate.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => void (await engine.deps.redis.flushall()));

const account = { provider: 'p', digest: 'd' };
const reason = { code: 'EMODELRATELIMIT', message: 'slow down' };
const limited = { kind: 'limited' as const, reason, retryAfterMs: 10_000 };

/** Two workers that share a gate, on a clock of the test. */
function workers(rates: ProviderRates = {}) {
  const clock = { now: 1_000_000 };
  const woken: string[] = [];
  const open = () =>
    openModelGate({
      ...{ redis: engine.deps.redis, rates, logger: engine.deps.logger, now: () => clock.now, random: () => 1 },
      wake: async ({ runId }) => void woken.push(runId),
    });
  const gates = [open(), open()] as const;
  let turns = 0;
  const enter = (runId: string, of = account) => gates[turns++ % 2 === 0 ? 0 : 1].enter(of, { runId, turn: 1 });
  const opened = async (runId: string) => {
    const entry = await enter(runId);
    if (entry.kind !== 'open') throw new Error(`${runId} waits for ${entry.waitMs}`);
    return entry;
  };
  return { clock, woken, enter, opened };
}

test('no run waits at a provider that answers', async () => {
  const { enter } = workers();
  const all = await Promise.all(Array.from({ length: 30 }, (_, n) => enter(`r${n}`)));
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['open']));
});

test('after a refusal no worker asks this account before its time; another account is asked', async () => {
  const { clock, enter, opened } = workers();
  const first = await opened('a');
  expect(await first.leave(limited)).toEqual({ closedMs: 10_000 });
  expect(await enter('b')).toEqual({ kind: 'closed', waitMs: 10_000, closedMs: 10_000, reason });
  expect((await enter('b', { provider: 'p', digest: 'other' })).kind).toBe('open');
  clock.now += 9_999;
  expect((await enter('b')).kind).toBe('closed');
  clock.now += 1;
  expect((await enter('b')).kind).toBe('open');
});

test('the first who waits is let through first, and each success lets more through', async () => {
  const { clock, woken, enter, opened } = workers();
  await (await opened('x')).leave(limited);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await enter(id);
  clock.now += 10_000;
  expect([(await enter('c')).kind, (await enter('b')).kind]).toEqual(['closed', 'closed']);
  const a = await opened('a');
  expect((await enter('b')).kind).toBe('closed');
  await a.leave({ kind: 'ok' });
  expect(woken).toEqual(['b', 'c']);
  const [b, c] = [await opened('b'), await opened('c')];
  expect((await enter('d')).kind).toBe('closed');
  await c.leave({ kind: 'neutral' });
  expect(woken.slice(2)).toEqual(['d']);
  await b.leave({ kind: 'ok' });
  expect((await enter('e')).kind).toBe('open');
});

test('refusals of requests that were under way close the gate once; a second refusal closes it for longer', async () => {
  const { clock, enter, opened } = workers();
  const all = await Promise.all(['a', 'b', 'c', 'd'].map(opened));
  const short = { kind: 'limited' as const, reason };
  for (const one of all) await one.leave(short);
  expect(await enter('e')).toMatchObject({ closedMs: 1000 });
  clock.now += 1000;
  await (await opened('e')).leave(short);
  clock.now += 1999;
  expect((await enter('f')).kind).toBe('closed');
});

test('a worker that died frees its place, and a run that is gone its turn', async () => {
  const { clock, enter, opened } = workers({ p: { at_once: 1 } });
  await opened('dies');
  expect((await enter('gone')).kind).toBe('closed');
  expect((await enter('b')).kind).toBe('closed');
  clock.now += 60_001;
  expect((await enter('b')).kind).toBe('open');
});

test('the operator’s rate holds for all workers together', async () => {
  const { clock, woken, enter, opened } = workers({ p: { at_once: 2, per_minute: 60 } });
  const [a, b] = [await opened('a'), await opened('b')];
  expect(await enter('c')).toMatchObject({ kind: 'closed', reason: undefined });
  await a.leave({ kind: 'ok' });
  expect(woken).toEqual(['c']);
  await b.leave({ kind: 'ok' });
  let passed = 0;
  for (let n = 0; n < 40; n++) {
    const entry = await enter(n === 0 ? 'c' : `r${n}`);
    if (entry.kind === 'open') await entry.leave({ kind: 'ok' });
    passed += Number(entry.kind === 'open');
  }
  // A tenth of a minute's requests may come at once.
  expect(passed).toBe(4);
  clock.now += 1000;
  expect((await enter('r4')).kind).toBe('open');
});

test('an answer is not lost with the Redis that its place is in', async () => {
  const { redis, logger } = engine.deps;
  let isAway = false;
  const broken = new Proxy(redis, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'evalsha' || !isAway) return typeof value === 'function' ? value.bind(target) : value;
      return () => Promise.reject(new Error('away'));
    },
  });
  const gate = openModelGate({ redis: broken, rates: {}, wake: async () => {}, logger });
  const entry = await gate.enter(account, { runId: 'a', turn: 1 });
  isAway = true;
  expect(entry.kind === 'open' && (await entry.leave({ kind: 'ok' }))).toEqual({ closedMs: 0 });
});

test('its keys end by themselves', async () => {
  const { enter, opened } = workers();
  await (await opened('a')).leave(limited);
  await enter('b');
  const keys = await engine.deps.redis.keys('hp:model-gate:*');
  expect(keys.length).toBeGreaterThan(1);
  for (const key of keys) expect(await engine.deps.redis.pttl(key)).toBeGreaterThan(0);
});
