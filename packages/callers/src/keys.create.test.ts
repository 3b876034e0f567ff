import { randomBytes } from 'node:crypto';
import { allScopes, type Scope } from '@holdpoint/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyText, hasKeyForm } from './check-key.ts';
import type { KeyRequest } from './manage-keys.ts';
import type { Holder } from './record.ts';
import { startTestCallers, type TestCallers } from './testing/test-callers.ts';

let t: TestCallers;
beforeAll(async () => {
  t = await startTestCallers();
});
afterAll(() => t.stop());

let names = 0;
const unique = (): string => {
  names += 1;
  return `caller ${names}`;
};
const request = (changes: Partial<KeyRequest> = {}): KeyRequest => ({
  ...{ name: unique(), kind: 'person', scopes: ['runs:read'] },
  ...changes,
});
const made = async (changes: Partial<KeyRequest>, by: Holder = t.admin): Promise<{ text: string; holder: Holder }> => {
  const { text } = await t.callers.create(by, request(changes));
  return { text, holder: (await t.callers.check(text)).holder };
};

describe('the text of a key', () => {
  test('separates a mistyped key from an unknown one', () => {
    const text = createKeyText();
    expect(text).toMatch(/^hp_[\w-]{49}$/);
    expect(hasKeyForm(text)).toBe(true);
    for (let at = 3; at < text.length - 1; at += 1) {
      const other = text[at] === 'A' ? 'B' : 'A';
      expect(hasKeyForm(text.slice(0, at) + other + text.slice(at + 1))).toBe(false);
    }
    expect(hasKeyForm(text.slice(0, -1))).toBe(false);
    // A key of a version without checksums.
    expect(hasKeyForm(`hp_${randomBytes(32).toString('base64url')}`)).toBe(true);
  });

  test('is stored nowhere', async () => {
    const { text } = await made({ name: 'secret one' });
    const keys = await t.redis.keys('*');
    const all = await Promise.all(
      keys.map(async (key) => `${key} ${(await t.redis.dumpBuffer(key))?.toString('latin1')}`),
    );
    for (const one of [text, t.firstKey]) {
      expect(all.join('\n')).not.toContain(one);
      expect(all.join('\n')).not.toContain(one.slice(3, 46));
    }
  });
});

describe('a key', () => {
  test('holds what it was created with, and shows when it was used', async () => {
    const { callers, admin } = t;
    const { holder } = await made({ name: 'Ann', kind: 'service', scopes: ['runs:read', 'runs:read', 'tools:read'] });
    expect(holder).toMatchObject({
      caller: { name: 'Ann', kind: 'service', tenant: 'default' },
      scopes: ['runs:read', 'tools:read'],
      expiresAt: null,
    });
    const record = await callers.get(admin, holder.keyId);
    expect(record).toMatchObject({ created_by: 'admin', revoked_at: null, rotated_at: null });
    expect(Date.now() - Date.parse(record.last_used_at ?? '')).toBeLessThan(60_000);
  });

  test('gives no more than its maker has', async () => {
    const { callers } = t;
    const maker = await made({
      scopes: ['keys:admin', 'runs:read'],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      limits: { requests_per_s: 10 },
    });
    const soon = new Date(Date.now() + 60_000).toISOString();
    const within = { expires_at: soon, limits: { requests_per_s: 10 } };
    await expect(callers.create(maker.holder, request(within))).resolves.toBeDefined();
    const refused: [Partial<KeyRequest>, string][] = [
      [{ ...within, scopes: ['runs:read', 'runs:write'] }, '/scopes/1'],
      [{ limits: within.limits }, '/expires_at'],
      [{ ...within, limits: { requests_per_s: 11 } }, '/limits/requests_per_s'],
      [{ ...within, limits: { requests_per_s: null } }, '/limits/requests_per_s'],
    ];
    const past = { ...within, expires_at: new Date(Date.now() - 1).toISOString() };
    await expect(callers.create(maker.holder, request(past))).rejects.toMatchObject({
      code: 'invalid_key',
      errors: [{ pointer: '/expires_at' }],
    });
    for (const [changes, pointer] of refused) {
      await expect(callers.create(maker.holder, request(changes))).rejects.toMatchObject({
        code: 'key_not_allowed',
        errors: [{ pointer }],
      });
    }
  });

  test('takes over no key with more rights by rotating or revoking it', async () => {
    const { callers, admin } = t;
    const maker = await made({ scopes: ['keys:admin'] });
    const strong = await made({ scopes: ['keys:admin', 'approvals:decide'] });
    for (const id of [strong.holder.keyId, admin.keyId]) {
      const refused = { code: 'key_not_allowed' };
      await expect(callers.rotate(maker.holder, { id, graceS: 0 })).rejects.toMatchObject(refused);
      await expect(callers.revoke(maker.holder, id)).rejects.toMatchObject(refused);
    }
    await expect(callers.check(strong.text)).resolves.toBeDefined();
  });

  test('of an agent never decides or changes policies, whatever its record says', async () => {
    const { callers, admin, redis } = t;
    const never = allScopes.filter((scope) =>
      /^(approvals:decide|policies:write|schedules:write|evals:write|mcp:.*|webhooks:.*)$/.test(scope),
    );
    expect(never).toHaveLength(8);
    for (const scope of never) {
      await expect(callers.create(admin, request({ kind: 'agent', scopes: [scope] }))).rejects.toMatchObject({
        code: 'invalid_key',
        errors: [{ pointer: '/scopes/0' }],
      });
    }
    const { text, holder } = await made({ kind: 'agent', scopes: ['keys:admin', 'runs:read'] });
    await expect(callers.create(holder, request())).rejects.toMatchObject({ errors: [{ pointer: '/kind' }] });
    const key = `hp:{keys}:key:${holder.keyId}`;
    const record = JSON.parse((await redis.hget(key, 'record')) ?? '');
    await redis.hset(key, 'record', JSON.stringify({ ...record, scopes: [...allScopes, 'of another version'] }));
    const scopes = (await callers.check(text)).holder.scopes;
    expect(scopes).toEqual(allScopes.filter((scope) => !never.includes(scope)));
  });

  test('has its name alone among the keys in force of its tenant', async () => {
    const { callers, admin } = t;
    const first = await made({ name: 'ci' });
    const taken = { code: 'key_name_taken', errors: [{ pointer: '/name' }] };
    await expect(callers.create(admin, request({ name: 'CI' }))).rejects.toMatchObject(taken);
    await expect(callers.create(admin, request({ name: 'admin' }))).rejects.toMatchObject(taken);
    await made({ name: 'ci', tenant: 'acme' });
    await callers.revoke(admin, first.holder.keyId);
    await made({ name: 'ci' });
    const racing = await Promise.allSettled(
      Array.from({ length: 20 }, () => callers.create(admin, request({ name: 'racing' }))),
    );
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('of another tenant is made by the operator, and seen by its tenant and the operator', async () => {
    const { callers, admin } = t;
    const acme = await made({ tenant: 'acme', scopes: ['keys:admin', 'runs:read'] });
    const globex = await made({ tenant: 'globex', scopes: ['keys:admin', 'runs:read'] });
    for (const tenant of ['globex', 'default']) {
      await expect(callers.create(acme.holder, request({ tenant }))).rejects.toMatchObject({
        errors: [{ pointer: '/tenant' }],
      });
      expect(await callers.list(acme.holder, { tenant, limit: 10 })).toEqual({ items: [], damaged: [], next: null });
    }
    const refused = { code: 'key_not_found', message: `there is no key ${globex.holder.keyId}` };
    await expect(callers.get(acme.holder, globex.holder.keyId)).rejects.toMatchObject(refused);
    await expect(callers.rotate(acme.holder, { id: globex.holder.keyId, graceS: 0 })).rejects.toMatchObject(refused);
    await expect(callers.revoke(acme.holder, globex.holder.keyId)).rejects.toMatchObject(refused);
    await expect(callers.get(admin, globex.holder.keyId)).resolves.toMatchObject({ tenant: 'globex' });
    await expect(callers.create(admin, request({ tenant: 'acme', scopes: ['queues:admin'] }))).rejects.toMatchObject({
      errors: [{ pointer: '/scopes/0' }],
    });
  });

  test('stands in pages of its tenant, newest first', async () => {
    const { callers, admin } = t;
    const scopes: Scope[] = ['runs:read'];
    for (const name of ['a', 'b', 'c']) await callers.create(admin, { name, kind: 'person', scopes, tenant: 'pages' });
    const page = await callers.list(admin, { tenant: 'pages', limit: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(['c', 'b']);
    const rest = await callers.list(admin, { tenant: 'pages', limit: 2, cursor: page.next ?? '' });
    expect([rest.items.map(({ name }) => name), rest.next]).toEqual([['a'], null]);
  });
});
