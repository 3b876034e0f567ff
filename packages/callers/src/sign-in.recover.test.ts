import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Identity, signIn } from './sign-in.ts';
import { startTestCallers, type TestCallers } from './testing/test-callers.ts';

let t: TestCallers;
beforeAll(async () => {
  t = await startTestCallers();
});
afterAll(() => t.stop());

const who = (subject: string, more: Partial<Identity> = {}): Identity => ({
  ...{ issuer: 'https://login.example', subject, name: `${subject}@example.com`, tenant: 'default' },
  scopes: ['runs:read', 'approvals:decide'],
  ...more,
});
const lasting = { device: 'browser', sealed: 'sealed', everyMs: 600_000, holdMs: 600_000 } as const;
const keyOf = async (subject: string) =>
  (await t.callers.list(t.admin, { limit: 200 })).items.filter((one) => one.sign_in?.subject === subject);

/** Redis as a process sees it that is killed before (`at`) or after (`at` + 0.5) its nth command. */
function dyingAt(at: number): { redis: typeof t.redis; count: () => number } {
  let count = 0;
  const redis = new Proxy(t.redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (!/^(get|set|hmget|hget|evalsha|eval|zrange|sadd|smembers)$/.test(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        count += 1;
        if (count === Math.ceil(at) && Number.isInteger(at)) throw new Error('killed');
        const answer: unknown = await Reflect.apply(value, target, args);
        if (count === Math.floor(at) && !Number.isInteger(at)) throw new Error('killed');
        return answer;
      };
    },
  });
  return { redis, count: () => count };
}

test('a sign-in that is killed at any command leaves one key at most, and works again', async () => {
  for (let at = 1; ; at += 0.5) {
    const { redis, count } = dyingAt(at);
    const deps = { redis, now: Date.now, newId: () => `key_killed_${at}` };
    const first = await signIn(deps, who(`killed ${at}`, { name: `killed ${at}` }), lasting).catch(() => undefined);
    const again = await t.callers.signIns.open(who(`killed ${at}`, { name: `killed ${at}` }), lasting);
    expect(await keyOf(`killed ${at}`)).toMatchObject([{ id: again.keyId, person: `killed ${at}` }]);
    expect((await t.callers.checkSession(again.token)).holder.scopes).toEqual(['runs:read', 'approvals:decide']);
    if (first === undefined) continue;
    expect(count()).toBeGreaterThan(2);
    break;
  }
});

test('many sign-ins of a person at once make one key, with the rights of one of them', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => t.callers.signIns.open(who('racer'), lasting)));
  expect(new Set(all.map(({ keyId }) => keyId)).size).toBe(1);
  expect(await keyOf('racer')).toHaveLength(1);
});

test('two persons with one name at once: one of them has it', async () => {
  const both = await Promise.allSettled(
    ['one', 'two'].map((subject) => t.callers.signIns.open(who(subject, { name: 'same' }), lasting)),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('a revoked key ends every session, is not used again, and has a successor with the same name', async () => {
  const first = await t.callers.signIns.open(who('revoked'), lasting);
  await t.callers.revoke(t.admin, first.keyId);
  await expect(t.callers.checkSession(first.token)).rejects.toMatchObject({ code: 'unauthorized' });
  const next = await t.callers.signIns.open(who('revoked'), lasting);
  expect(next.keyId).not.toBe(first.keyId);
  expect(next.caller.name).toBe(first.caller.name);
  await expect(t.callers.checkSession(first.token)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('an unconfirmed session and its streams end, whatever is asked of it', async () => {
  const { token, id } = await t.callers.signIns.open(who('away'), { ...lasting, everyMs: 1, holdMs: 400 });
  const { holder } = await t.callers.checkSession(token);
  const stream = await t.callers.openStream(holder);
  expect(await stream.renew()).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await stream.renew()).toBe(false);
  await expect(t.callers.checkSession(token)).rejects.toMatchObject({ code: 'session_ended' });
  expect((await t.callers.signIns.claimDue()).map((one) => one.id)).not.toContain(id);
});

test('of several processes one has a due session confirmed, and a stale claim changes nothing', async () => {
  const { token, id } = await t.callers.signIns.open(who('due'), { ...lasting, everyMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 10));
  const claims = (await Promise.all([1, 2, 3, 4].map(() => t.callers.signIns.claimDue()))).flat();
  const [own, ...rest] = claims.filter((one) => one.id === id);
  expect(rest).toEqual([]);
  if (own === undefined) throw new Error('nothing was claimed');
  const { holder } = await t.callers.checkSession(token);
  const stream = await t.callers.openStream(holder);
  const less = { sealed: 'next', everyMs: 600_000, holdMs: 600_000, scopes: ['runs:read' as const] };
  expect(await t.callers.signIns.confirm({ ...own, claim: 'of another' }, less)).toBe(false);
  expect((await t.callers.checkSession(token)).holder.scopes).toContain('approvals:decide');
  expect(await t.callers.signIns.confirm(own, less)).toBe(true);
  expect((await t.callers.checkSession(token)).holder.scopes).toEqual(['runs:read']);
  expect(await stream.renew()).toBe(false);
  expect(await t.callers.signIns.confirm(own, { ...less, scopes: ['runs:read', 'approvals:decide'] })).toBe(false);
  await t.callers.revoke(t.admin, own.keyId);
  expect(await t.callers.signIns.confirm(own, less)).toBe(false);
});
