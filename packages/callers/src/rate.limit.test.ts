import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RateError } from './errors.ts';
import { callerLimitsFrom } from './limits.ts';
import { startTestCallers, type TestCallers } from './testing/test-callers.ts';

let t: TestCallers;
beforeAll(async () => {
  t = await startTestCallers();
});
afterAll(() => t.stop());

let names = 0;
async function made(limits: object, tenant = 'default'): Promise<string> {
  names += 1;
  const request = { name: `caller ${names}`, kind: 'service', scopes: ['runs:read'], limits, tenant } as const;
  return (await t.callers.create(t.admin, request)).text;
}
/** A rate so low that no request is given back during the test. */
const few = { requests_per_s: 1, burst: 5 };

test('a key has its burst, counted over all processes, and then waits', async () => {
  const text = await made(few);
  const processes = [t.callers, await t.open(), await t.open()];
  const all = await Promise.allSettled(
    Array.from({ length: 60 }, (_, at) => (processes[at % 3] ?? t.callers).check(text)),
  );
  const through = all.filter(({ status }) => status === 'fulfilled').length;
  // A busy machine may need seconds for the requests: one more is given back in each.
  expect(through).toBeGreaterThanOrEqual(5);
  expect(through).toBeLessThan(20);
  const refused = all.find((one) => one.status === 'rejected');
  expect(refused?.reason).toBeInstanceOf(RateError);
  expect(refused?.reason).toMatchObject({ code: 'too_many_requests', retryAfterS: 1 });
});

test('an admission says what is left', async () => {
  const text = await made({ requests_per_s: 1, burst: 100 });
  const [first, second] = [await t.callers.check(text), await t.callers.check(text)];
  expect(first.rate).toMatchObject({ limit: 1, burst: 100, remaining: 99, resetMs: 1000 });
  expect(second.rate?.remaining).toBeGreaterThanOrEqual(98);
  expect((await t.callers.check(t.firstKey)).rate).toBeUndefined();
});

test('the keys of a tenant share its rate, and another tenant has its own', async () => {
  const narrow = await t.open({ tenant: { requests_per_s: 1, burst: 4 } });
  const texts = [await made({}, 'busy'), await made({}, 'busy')];
  const all = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => narrow.check(texts[at % 2] ?? '')));
  const refused = all.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(20);
  await expect(narrow.check(await made({}, 'calm'))).resolves.toBeDefined();
});

test('a clock of Redis that was set back does not close a key for longer than its burst', async () => {
  const text = await made(few);
  const { holder } = await t.callers.check(text);
  await t.redis.set(`hp:{keys}:rate:key:${holder.keyId}`, Date.now() + 3_600_000);
  const error: unknown = await t.callers.check(text).catch((one: unknown) => one);
  expect(error).toMatchObject({ code: 'too_many_requests', retryAfterS: 1 });
});

test('counting writes nothing to the append-only file', async () => {
  const text = await made({});
  await t.callers.check(text);
  const size = async () => /aof_current_size:(\d+)/.exec(await t.redis.info('persistence'))?.[1];
  const before = await size();
  for (let time = 0; time < 50; time += 1) await t.callers.check(text);
  expect(await size()).toBe(before);
});

describe('event streams', () => {
  test('are counted over all processes until they close', async () => {
    const { holder } = await t.callers.check(await made({ streams: 2 }));
    const other = await t.open();
    const [first] = [await t.callers.openStream(holder), await other.openStream(holder)];
    await expect(other.openStream(holder)).rejects.toMatchObject({ code: 'too_many_streams' });
    await first.close();
    await expect(other.openStream(holder)).resolves.toBeDefined();
  });

  test('of a process that died stop counting, and end with the key', async () => {
    const text = await made({ streams: 1 });
    const { holder } = await t.callers.check(text);
    const stream = await t.callers.openStream(holder);
    expect(await stream.renew()).toBe(true);
    const [[member]] = [await t.redis.zrange(`hp:{keys}:streams:${holder.keyId}`, '0', '-1')];
    await t.redis.zadd(`hp:{keys}:streams:${holder.keyId}`, Date.now() - 1, member ?? '');
    await expect(t.callers.openStream(holder)).resolves.toBeDefined();
    await t.callers.rotate(t.admin, { id: holder.keyId, graceS: 0 });
    expect(await stream.renew()).toBe(false);
    await expect(t.callers.openStream(holder)).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

test('settings that are no numbers are refused by name', () => {
  expect(callerLimitsFrom({ HOLDPOINT_KEY_RATE: 'unlimited' }).key.requests_per_s).toBeNull();
  for (const text of ['0', '-1', '1.5', 'many']) {
    expect(() => callerLimitsFrom({ HOLDPOINT_TENANT_RUNS: text })).toThrow('HOLDPOINT_TENANT_RUNS');
  }
});

test('without Redis a request fails and is never let through', async () => {
  const alone = await startTestCallers();
  await alone.stop();
  await expect(alone.callers.check(alone.firstKey)).rejects.toThrow();
});
