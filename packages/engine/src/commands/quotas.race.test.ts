import type { Quotas } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listSteps } from '../queries/index.ts';
import { chargeRun, quotaUsedUp, readUse, writeQuotas } from '../quotas/index.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestCancel } from './index.ts';
import { submitRun } from './submit-run.ts';

const engine = useTestEngine({ fresh: true });
const tenant = 'acme';
const spec = specOf([[{ args: { effect: 'external' } }]], {
  policy: { rules: [{ match: { effect: 'external' }, action: 'hold' }] },
});
const set = (quotas: Partial<Quotas>) =>
  writeQuotas(engine.deps.redis, tenant, { quotas: { tenant: {}, person: {}, ...quotas } });
const depsOf = () => inMemoryWorker(engine).deps;
const submit = (by: string, deps = depsOf(), runId?: string) => submitRun(deps, { spec, by, tenant, runId });
const outcomes = async (all: Promise<unknown>[]) => {
  const settled = await Promise.allSettled(all);
  for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'quota_reached' });
  return settled.filter(({ status }) => status === 'fulfilled').length;
};

test('requests at the same moment never pass a quota of the tenant or of a person', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom('runs_at_once' as const, 'runs_per_day' as const),
      async (most, each, quota) => {
        await engine.deps.redis.flushall();
        await set({ tenant: { [quota]: most }, person: { [quota]: each } });
        const names = ['ann', 'bob', 'carl'];
        const asked = names.flatMap((by) => Array.from({ length: 4 }, () => ({ by, run: submit(by) })));
        expect(await outcomes(asked.map(({ run }) => run))).toBe(Math.min(most, 3 * Math.min(4, each)));
        for (const by of names) {
          const done = await Promise.allSettled(asked.filter((one) => one.by === by).map(({ run }) => run));
          expect(done.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(each);
        }
      },
    ),
    { numRuns: 12 },
  );
});

test('the end of a run frees a place at once, and none of its day; the refusal says when that frees', async () => {
  await set({ tenant: { runs_at_once: 1, runs_per_day: 2 } });
  const deps = depsOf();
  const { runId } = await submit('ann', deps);
  await deliverAll(deps);
  await expect(submit('ann', deps)).rejects.toMatchObject({ message: expect.stringContaining('runs_at_once') });
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const second = await submit('bob', deps);
  await requestCancel(deps, second.runId, { by: 'bob' });
  await deliverAll(deps);
  const midnight = (Math.floor(deps.now() / 86_400_000) + 1) * 86_400_000;
  await expect(submit('bob', deps)).rejects.toMatchObject({
    ...{ code: 'quota_reached', message: 'the tenant acme has used 2 of 2 of today (runs_per_day)' },
    next: expect.stringContaining(new Date(midnight).toISOString()),
  });
  await submit('bob', { ...deps, now: () => midnight + 1 });
});

test('a submit that is killed before or after any command counts once when it is sent again', async () => {
  await set({ tenant: { runs_per_day: 1000 } });
  for (let at = 1; ; at += 0.5) {
    let count = 0;
    const redis = new Proxy(engine.deps.redis, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (!/^(eval|evalsha|get|set|hget|smembers|zadd|zrange)$/.test(String(name))) return value.bind(target);
        return async (...args: unknown[]) => {
          count += 1;
          if (count === at) throw new Error('killed');
          const answer: unknown = await Reflect.apply(value, target, args);
          if (count === at - 0.5) throw new Error('killed');
          return answer;
        };
      },
    });
    const deps = depsOf();
    const before = await readUse(deps.redis, { tenant }, deps.now());
    const runId = deps.newId('run');
    const killed = await submit('ann', { ...deps, redis }, runId).then(
      () => false,
      () => true,
    );
    await submit('ann', deps, runId);
    const after = await readUse(deps.redis, { tenant }, deps.now());
    expect(after.runs_per_day).toBe(before.runs_per_day + 1);
    if (!killed && count < at - 0.5) break;
  }
});

test('what a run used is charged once, however often it is reported, and a used up quota pauses', async () => {
  await set({ tenant: { tokens_per_day: 1000 }, person: { cost_usd_per_day: 1 } });
  const deps = depsOf();
  const { run } = await listSteps(deps, (await submit('ann', deps)).runId);
  const used = (input_tokens: number, cost_micros = 0) => ({ ...run, input_tokens, cost_micros });
  await Promise.all(Array.from({ length: 10 }, () => chargeRun(deps.redis, used(600), deps.now())));
  expect(await readUse(deps.redis, { tenant }, deps.now())).toMatchObject({ tokens_per_day: 600 });
  expect(await quotaUsedUp(deps.redis, used(900), deps.now())).toBeUndefined();
  // An older report that comes late takes nothing back.
  await chargeRun(deps.redis, used(100), deps.now());
  expect(await quotaUsedUp(deps.redis, used(900, 2_000_000), deps.now())).toMatchObject({ code: 'quota_reached' });
  expect(await quotaUsedUp(deps.redis, used(1000), deps.now())).toMatchObject({
    message: 'The tenant acme has used 1000 of 1000 of today (tokens_per_day).',
  });
  await expect(submit('bob', deps)).rejects.toMatchObject({ code: 'quota_reached', retryAfterS: expect.any(Number) });
});

test('of two changes of one version one is stored', async () => {
  const change = () => writeQuotas(engine.deps.redis, tenant, { quotas: { tenant: {}, person: {} }, after: 0 });
  const both = await Promise.allSettled([change(), change()]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});
