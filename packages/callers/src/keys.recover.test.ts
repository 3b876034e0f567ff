import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyText } from './check-key.ts';
import type { Holder } from './record.ts';
import { startTestCallers, type TestCallers } from './testing/test-callers.ts';

let t: TestCallers;
beforeAll(async () => {
  t = await startTestCallers();
});
afterAll(() => t.stop());

const refused = { code: 'unauthorized' };
let names = 0;
async function made(changes: { expires_at?: string } = {}): Promise<{ text: string; id: string; holder: Holder }> {
  names += 1;
  const { text, record } = await t.callers.create(t.admin, {
    ...{ name: `caller ${names}`, kind: 'person', scopes: ['runs:read'] },
    ...changes,
  });
  return { text, id: record.id, holder: (await t.callers.check(text)).holder };
}

test('a revoked key is refused by every process once the revoke has returned', async () => {
  const other = await t.open();
  for (let round = 0; round < 20; round += 1) {
    const { text, id } = await made();
    await other.check(text);
    await t.callers.revoke(t.admin, id);
    await expect(other.check(text)).rejects.toMatchObject({ ...refused, message: 'this key is not known here' });
  }
});

test('an expired key is refused', async () => {
  const { text, id } = await made({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  await t.redis.hset(`hp:{keys}:key:${id}`, 'expires', Date.now() - 1);
  await expect(t.callers.check(text)).rejects.toMatchObject(refused);
});

describe('a rotated key', () => {
  test('keeps its id and name, and the text before stays valid for the grace period alone', async () => {
    const { callers, admin, redis } = t;
    const { text, id } = await made();
    const next = await callers.rotate(admin, { id, graceS: 100 });
    expect(next.record).toMatchObject({ id, revoked_at: null });
    expect(Date.parse(next.record.previous_until ?? '') - Date.now()).toBeGreaterThan(50_000);
    for (const valid of [text, next.text]) expect((await callers.check(valid)).holder.keyId).toBe(id);
    // Only the last text before has a grace period.
    const last = await callers.rotate(admin, { id, graceS: 100 });
    await expect(callers.check(text)).rejects.toMatchObject(refused);
    await expect(callers.check(next.text)).resolves.toBeDefined();
    const { holder } = await callers.check(next.text);
    expect(await redis.ttl(`hp:{keys}:hash:${holder.digest.slice(0, 32)}`)).toBeGreaterThan(50);
    const now = await callers.rotate(admin, { id, graceS: 0 });
    for (const old of [next.text, last.text]) await expect(callers.check(old)).rejects.toMatchObject(refused);
    expect(now.record.previous_until).toBeNull();
    await callers.revoke(admin, id);
    await expect(callers.check(now.text)).rejects.toMatchObject(refused);
    await expect(callers.rotate(admin, { id, graceS: 0 })).rejects.toMatchObject({ code: 'key_revoked' });
  });

  test('is rotated by one of two requests at the same moment', async () => {
    const { callers, admin } = t;
    const { id } = await made();
    const both = await Promise.allSettled(Array.from({ length: 8 }, () => callers.rotate(admin, { id, graceS: 0 })));
    const texts = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.text] : []));
    const valid = await Promise.all(
      texts.map((text) =>
        callers.check(text).then(
          () => true,
          () => false,
        ),
      ),
    );
    expect(valid.filter(Boolean)).toHaveLength(1);
    for (const one of both) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'key_changed' });
  });
});

describe('the key of the key file', () => {
  test('is admin: a person of the tenant default with every scope and no limit', () => {
    expect(t.admin).toMatchObject({
      caller: { name: 'admin', kind: 'person', tenant: 'default' },
      limits: { requests_per_s: null, burst: null, streams: null },
    });
    expect(t.admin.scopes).toContain('approvals:decide');
  });

  test('is recorded again when Redis lost its record, and not when it was revoked', async () => {
    const lost = await startTestCallers();
    try {
      await lost.redis.flushall();
      await expect(lost.callers.check(lost.firstKey)).resolves.toBeDefined();
      const { holder } = await lost.callers.check(lost.firstKey);
      await expect(lost.callers.rotate(holder, { id: holder.keyId, graceS: 0 })).rejects.toMatchObject({
        code: 'key_in_file',
      });
      await lost.callers.revoke(holder, holder.keyId);
      await expect(lost.callers.check(lost.firstKey)).rejects.toMatchObject(refused);
      const again = await lost.open();
      await expect(again.check(lost.firstKey)).rejects.toMatchObject(refused);
    } finally {
      await lost.stop();
    }
  });

  test('is replaced by another text in the file', async () => {
    const { redis, firstKey, admin } = t;
    const text = createKeyText();
    const { openCallers } = await import('./callers.ts');
    const { callerLimitsFrom } = await import('./limits.ts');
    const deps = { redis, newId: () => 'key_other', now: Date.now, limits: callerLimitsFrom({}) };
    const next = await openCallers({ ...deps, firstKey: text });
    expect((await next.check(text)).holder).toMatchObject({ keyId: admin.keyId, caller: { name: 'admin' } });
    await expect(next.check(firstKey)).rejects.toMatchObject(refused);
    await openCallers({ ...deps, firstKey });
  });
});
