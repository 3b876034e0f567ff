import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import type { Scope } from '@holdpoint/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PushEndpoint, readVapid, startPushEndpoint } from '../../testing/push-endpoint.ts';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
/** Without addresses opened by the operator. */
let closed: TestApi;
let worker: TestWorker;
let browser: PushEndpoint;
beforeAll(async () => {
  api = await startTestApi({ allowAddresses: ['127.0.0.1/32'] });
  closed = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(async () => {
  await api.stop();
  await closed.stop();
});
beforeEach(async () => {
  browser = await startPushEndpoint();
});
afterEach(async () => {
  for (const { id } of await api.client.listPushSubscriptions()) await api.client.unsubscribeFromPushes(id);
  await browser.stop();
});

const within = { timeout: 20_000 };
const held = { tool: 'bash', args: { command: 'echo a-very-secret-argument' } };
const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
async function park(title = 'Fix the tests'): Promise<{ run: string; approval: string; digest: string }> {
  const { run } = await api.client.createRun({ title, plan: { groups: [{ steps: [held] }] }, policy });
  await worker.drive(run.id);
  const { data } = await api.client.listApprovals({ run_id: run.id });
  return { run: run.id, approval: data[0]?.id ?? '', digest: data[0]?.action_digest ?? '' };
}
const received = (count: number) => vi.waitFor(() => expect(browser.received).toHaveLength(count), within);
const texts = () => browser.received.map(({ text }) => text);

describe('a subscribed browser', () => {
  test('gets one push about an approval and the end of a run, without the arguments', async () => {
    const { id } = await api.client.subscribeToPushes(browser.subscription);
    expect(await api.client.subscribeToPushes(browser.subscription)).toMatchObject({ id });
    const { run, approval, digest } = await park();
    await received(1);
    expect(texts()).toEqual([
      {
        kind: 'approval',
        tool: 'bash',
        title: 'Fix the tests',
        risk: expect.any(String),
        url: `/approvals/${approval}`,
      },
    ]);
    expect(JSON.stringify(texts())).not.toContain('secret');
    await api.client.decideApproval(approval, { decision: 'reject', action_digest: digest });
    await worker.drive(run);
    await received(2);
    expect(texts()[1]).toEqual({
      ...{ kind: 'end', title: 'Fix the tests', url: `/runs/${run}` },
      status: (await api.client.getRun(run)).status,
    });
    // A look at everything, as after a lost connection or a restart, finds no news.
    await api.restart();
    const second = await park('Another');
    await received(3);
    expect(texts()[2]).toMatchObject({ url: `/approvals/${second.approval}` });
    expect(browser.asked()).toBe(3);
  });

  test('knows the server by its key', async () => {
    await api.client.subscribeToPushes(browser.subscription);
    await park();
    await received(1);
    const headers = browser.received[0]?.headers ?? {};
    const { public_key } = await api.client.getPushKey();
    const claims = readVapid(headers.authorization ?? '', public_key);
    expect(claims).toMatchObject({
      aud: new URL(browser.subscription.endpoint).origin,
      sub: expect.stringMatching(/^mailto:/),
    });
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      urgency: 'high',
      topic: expect.stringMatching(/^[\w-]{32}$/),
    });
    expect(Number(headers.ttl)).toBeGreaterThan(0);
    const file = join(api.dataDir, 'push-key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const secret = (await readFile(file, 'utf8')).trim();
    await api.restart();
    expect(await api.client.getPushKey()).toEqual({ public_key });
    expect(JSON.stringify([headers, public_key])).not.toContain(secret);
  });

  test('of a page with https gets pushes that name the page as their sender', async () => {
    const origin = api.address.replace('http:', 'https:');
    const answer = await fetch(`${api.address}/v1/push-subscriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json', origin },
      body: JSON.stringify(browser.subscription),
    });
    expect(answer.status).toBe(201);
    await park();
    await received(1);
    const { public_key } = await api.client.getPushKey();
    const claims = readVapid(browser.received[0]?.headers.authorization ?? '', public_key);
    expect(claims).toMatchObject({ sub: origin });
  });

  test('gets pushes of what happened while no API ran', async () => {
    await api.client.subscribeToPushes(browser.subscription);
    const { run } = await api.client.createRun({ plan: { groups: [{ steps: [held] }] }, policy });
    await api.running.close();
    await worker.drive(run.id);
    expect(browser.asked()).toBe(0);
    await api.restart();
    await received(1);
    expect(texts()).toMatchObject([{ kind: 'approval', tool: 'bash' }]);
  });

  test('hears nothing about what was decided in the meantime', async () => {
    browser.refuse(503, 1, { 'retry-after': '2' });
    await api.client.subscribeToPushes(browser.subscription);
    const { run, approval, digest } = await park();
    await vi.waitFor(() => expect(browser.asked()).toBe(1), within);
    await api.client.decideApproval(approval, { decision: 'reject', action_digest: digest });
    await worker.drive(run);
    await vi.waitFor(() => expect(texts()).toMatchObject([{ kind: 'end' }]), within);
    const { redis } = api.engine;
    await vi.waitFor(async () => expect(await redis.keys('{hp-0}:pushes:psh_*')).toEqual([]), within);
    expect(browser.asked()).toBe(2);
  });
});

describe('a push service', () => {
  test.each([410, 404])('that answers %i makes its subscription forgotten', async (status) => {
    browser.refuse(status);
    await api.client.subscribeToPushes(browser.subscription);
    await park();
    await vi.waitFor(async () => expect(await api.client.listPushSubscriptions()).toEqual([]), within);
    await park();
    expect(browser.asked()).toBe(1);
  });

  test.each([
    [429, { 'retry-after': '1' }],
    [503, {}],
    [500, {}],
  ])('that answers %i gets the push again', async (status, headers) => {
    browser.refuse(status, 2, headers);
    await api.client.subscribeToPushes(browser.subscription);
    await park();
    await received(1);
    expect(browser.asked()).toBe(3);
    expect(await api.client.listPushSubscriptions()).toHaveLength(1);
  });

  test('that is away gets the push when it is back', async () => {
    await api.client.subscribeToPushes(browser.subscription);
    await browser.stop();
    await park();
    const waiting = () => api.engine.redis.zcard('{hp-0}:pushes:delayed');
    await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(0), within);
    await browser.back();
    await received(1);
  });
});

describe('a subscription', () => {
  const as = async (scopes: Scope[], tenant?: string) => {
    const made = await api.client.createKey({
      ...{ name: `phone ${Math.random()}`, kind: 'person', scopes },
      ...(tenant !== undefined && { tenant }),
    });
    return { ...made, client: createClient({ baseUrl: api.address, key: made.key }) };
  };

  test.each([
    ['another tenant', ['approvals:read', 'runs:read'], 'acme'],
    ['no right to read', ['tools:read'], undefined],
  ] as const)('of %s gets nothing', async (_what, scopes, tenant) => {
    const other = await as([...scopes], tenant);
    const mine = await startPushEndpoint();
    await other.client.subscribeToPushes(mine.subscription);
    await api.client.subscribeToPushes(browser.subscription);
    await park();
    await received(1);
    const { redis } = api.engine;
    await vi.waitFor(async () => expect(await redis.keys('{hp-0}:pushes:psh_*')).toEqual([]), within);
    expect(mine.asked()).toBe(0);
    await api.client.revokeKey(other.id);
    await mine.stop();
    await other.client.close();
  });

  test.each(['revoked', 'rotated'])('ends with its key, when that is %s', async (what) => {
    const { id, client } = await as(['approvals:read']);
    const mine = await startPushEndpoint();
    await client.subscribeToPushes(mine.subscription);
    await (what === 'revoked' ? api.client.revokeKey(id) : api.client.rotateKey(id));
    await park();
    const { redis } = api.engine;
    await vi.waitFor(async () => expect(await redis.scard('hp:{push}:tenant:default')).toBe(0), within);
    expect(mine.asked()).toBe(0);
    await mine.stop();
    await client.close();
  });

  test('of another key is not listed and cannot be ended', async () => {
    const { client, id } = await as(['runs:read']);
    const own = await api.client.subscribeToPushes(browser.subscription);
    expect(await client.listPushSubscriptions()).toEqual([]);
    await expect(client.unsubscribeFromPushes(own.id)).rejects.toMatchObject({ code: 'push_subscription_not_found' });
    await client.close();
    await api.client.revokeKey(id);
  });

  test.each([
    'http://push.example/1',
    'ftp://127.0.0.1/1',
    'not an address',
    'https://user:word@push.example/1',
    'https://10.0.0.1/1',
    'https://169.254.169.254/latest',
    'https://[::1]/1',
    'http://127.0.0.2/1',
  ])('at %s is refused', async (endpoint) => {
    const response = await api.post('/v1/push-subscriptions', { ...browser.subscription, endpoint });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({
      status: 422,
      code: 'invalid_push_subscription',
      errors: [{ pointer: '/endpoint' }],
    });
    expect(await api.client.listPushSubscriptions()).toEqual([]);
  });

  test.each(['http://127.0.0.1/1', 'https://127.0.0.1/1', 'https://localhost/1', 'https://2130706433/1'])(
    'at %s is refused unless the operator opened the address',
    async (endpoint) => {
      const response = await closed.post('/v1/push-subscriptions', { ...browser.subscription, endpoint });
      expect(await problemOf(response)).toMatchObject({ status: 422, code: 'invalid_push_subscription' });
    },
  );

  test('with a key outside the curve is refused', async () => {
    const keys = { ...browser.subscription.keys, p256dh: 'A'.repeat(87) };
    const response = await api.post('/v1/push-subscriptions', { ...browser.subscription, keys });
    expect(await problemOf(response)).toMatchObject({
      ...{ status: 422, code: 'invalid_push_subscription', errors: [{ pointer: '/keys/p256dh' }] },
    });
  });

  test('beyond twenty of a key is refused', async () => {
    const { origin } = new URL(browser.subscription.endpoint);
    const add = (n: number) => api.client.subscribeToPushes({ ...browser.subscription, endpoint: `${origin}/${n}` });
    for (let n = 0; n < 20; n += 1) await add(n);
    await expect(add(20)).rejects.toMatchObject({ status: 409, code: 'too_many_push_subscriptions' });
  });
});
