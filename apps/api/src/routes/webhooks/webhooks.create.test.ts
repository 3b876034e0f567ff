import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import type { PutWebhook } from '@holdpoint/contract/wire';
import { openSecrets, secretSettingsFrom } from '@holdpoint/secrets';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';
import { type Received, startReceiver } from '../../testing/webhook-receiver.ts';

let api: TestApi;
let worker: TestWorker;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** Milliseconds ahead of the clock. */
let ahead = 0;
beforeAll(async () => {
  const env = { HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64') };
  const secrets = openSecrets(secretSettingsFrom(env, { dataDir: mkdtempSync(join(tmpdir(), 'hp-hook-')) }));
  api = await startTestApi({
    ...{ sweepMs: 300, secrets, allowAddresses: ['127.0.0.1/32'], publicUrl: 'https://holdpoint.example.com' },
    now: () => Date.now() + ahead,
  });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const { name } of await api.client.listWebhooks()) await api.client.deleteWebhook(name);
  await receiver.stop();
  ahead = 0;
});

const within = { timeout: 60_000 };
const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
const hook = (more: Partial<PutWebhook> = {}): PutWebhook => ({ url: receiver.url, events: ['run.*'], ...more });

async function runOnce(labels: Record<string, string> = {}): Promise<string> {
  const { run } = await api.client.createRun({ plan: { groups: [{ steps: [write] }] }, labels });
  await worker.drive(run.id);
  return run.id;
}
const eventsOf = async (runId: string) => (await api.client.listEvents(runId, { limit: 200 })).data;
const typesOf = (runId: string) =>
  receiver.received.filter(({ data }) => data.run_id === runId).map(({ type }) => type);
const seqsOf = (all: readonly Received[]) => all.map(({ data }) => data.seq);
const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const headersOf = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});

test('events of a run arrive in order, thin, and verified by standardwebhooks and svix; a rotation signs with both', async () => {
  const { secret, created, webhook } = await api.client.putWebhook('ci', hook());
  expect([created, webhook.status, webhook.signature]).toEqual([true, 'active', 'v1']);
  const runId = await runOnce();
  await vi.waitFor(() => expect(typesOf(runId)).toContain('run.succeeded'), within);
  const log = (await eventsOf(runId)).filter(({ type }) => type.startsWith('run.'));
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(log.map(({ id }) => id));
  expect(seqsOf(receiver.received)).toEqual(log.map(({ seq }) => seq));
  for (const one of receiver.received) {
    expect(new Standard(secret ?? '').verify(one.body, headersOf(one))).toEqual(JSON.parse(one.body));
    new Svix(secret ?? '').verify(one.body, headersOf(one));
    for (const Library of [Standard, Svix])
      expect(() => new Library(secret ?? '').verify(`${one.body} `, headersOf(one))).toThrow('No matching signature');
    expect(Buffer.byteLength(one.body)).toBeLessThan(1000);
    expect(one.data.url).toBe(`https://holdpoint.example.com/runs/${runId}`);
  }
  const rotated = await api.client.rotateWebhook('ci');
  expect(rotated.webhook.signs_with_both_until).not.toBeNull();
  await api.client.testWebhook('ci');
  const both = receiver.received.at(-1) as Received;
  for (const one of [secret, rotated.secret]) new Standard(one ?? '').verify(both.body, headersOf(both));
  ahead = 86_400_000 + 1000;
  expect(await api.client.testWebhook('ci')).toMatchObject({ delivered: true, status: 204 });
  expect(headersOf(receiver.received.at(-1) as Received)['webhook-signature'].split(' ')).toHaveLength(1);
});

test('v1a is verified with the public key, and its private key is in no answer', async () => {
  const { secret, webhook } = await api.client.putWebhook('ed', hook({ signature: 'v1a' }));
  expect(secret).toBeNull();
  await api.client.testWebhook('ed');
  const [one] = receiver.received;
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headersOf(one as Received);
  const x = Buffer.from((webhook.public_key ?? '').replace('whpk_', ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const content = Buffer.from(`${id}.${at}.${one?.body}`);
  expect(verify(null, content, key, Buffer.from(signature.replace('v1a,', ''), 'base64'))).toBe(true);
  expect(verify(null, Buffer.from('other'), key, Buffer.from(signature.replace('v1a,', ''), 'base64'))).toBe(false);
});

test('types and labels filter, and an event can be sent again under its id', async () => {
  await api.client.putWebhook('ends', hook({ events: ['run.succeeded'], labels: { team: 'a' } }));
  await runOnce();
  const runId = await runOnce({ team: 'a' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), within);
  expect(typesOf(runId)).toEqual(['run.succeeded']);
  const seq = receiver.received[0]?.data.seq ?? 0;
  await api.client.redeliverEvent('ends', { run_id: runId, seq });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), within);
  expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
  await vi.waitFor(async () => {
    expect(await api.client.listDeliveries('ends')).toMatchObject([
      { outcome: 'delivered', status: 204, redelivered: true, seq },
      { outcome: 'delivered', status: 204, seq },
    ]);
  }, within);
  await expect(api.client.redeliverEvent('ends', { run_id: runId, seq: 9999 })).rejects.toMatchObject({
    code: 'event_not_found',
  });
});

test('a receiver that is down for a day gets everything, in order per run', async () => {
  receiver.answer(503);
  await api.client.putWebhook('ci', hook({ events: ['*'] }));
  const runs = [await runOnce(), await runOnce(), await runOnce()];
  await vi.waitFor(async () => expect((await api.client.getWebhook('ci')).failures).toBeGreaterThan(0), within);
  for (const hours of [0.01, 0.2, 1, 4, 10, 24]) {
    ahead = hours * 3_600_000;
    await vi.waitFor(async () => {
      const { next_try } = await api.client.getWebhook('ci');
      expect(Date.parse(next_try ?? '')).toBeGreaterThan(Date.now() + ahead);
    }, within);
  }
  expect((await api.client.getWebhook('ci')).status).toBe('failing');
  receiver.answer(200);
  ahead = 60 * 3_600_000;
  await vi.waitFor(async () => expect((await api.client.getWebhook('ci')).pending).toBe(0), within);
  for (const runId of runs) {
    const seqs = seqsOf(receiver.received.filter(({ data }) => data.run_id === runId));
    expect(seqs).toEqual((await eventsOf(runId)).map(({ seq }) => seq));
    expect(seqs).toEqual(ascending(seqs));
  }
  expect(await api.client.getWebhook('ci')).toMatchObject({ status: 'active', failures: 0, next_try: null });
});

test('the table of retries ends with the webhook off, and switched on it sends what waits', async () => {
  receiver.answer(500);
  await api.client.putWebhook('ci', hook({ events: ['run.succeeded'] }));
  await runOnce();
  for (let tries = 1; (await api.client.getWebhook('ci')).status !== 'off'; tries++) {
    const recorded = async () => (await api.client.getWebhook('ci')).failures;
    await vi.waitFor(async () => expect(await recorded()).toBeGreaterThanOrEqual(tries), within);
    ahead += 30 * 3_600_000;
    expect(tries).toBeLessThan(15);
  }
  expect(receiver.asked()).toBe(10);
  const { off } = await api.client.getWebhook('ci');
  expect(off).toMatchObject({ by: 'deliveries', reason: '10 tries failed; the last one: it answered 500' });
  const records = await api.client.listAudit({ limit: 200 }).catch(() => undefined);
  if (records !== undefined) expect(JSON.stringify(records)).not.toContain('whsec_');
  receiver.answer(200);
  await api.client.switchOnWebhook('ci');
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), within);
});

test('an event that is refused holds up its own run alone; Retry-After is kept; 410 switches off', async () => {
  await api.client.putWebhook('ci', hook({ events: ['run.succeeded'] }));
  receiver.answer((one, response) => void response.writeHead(one.data.run_id === bad ? 422 : 200).end());
  const bad = await runOnce();
  await vi.waitFor(() => expect(receiver.asked()).toBe(1), within);
  const good = await runOnce();
  await vi.waitFor(() => expect(typesOf(good)).toEqual(['run.succeeded']), within);
  expect(typesOf(bad)).toEqual([]);
  receiver.answer(429, { 'retry-after': '7200' });
  await runOnce();
  await vi.waitFor(async () => {
    const { next_try } = await api.client.getWebhook('ci');
    expect(Date.parse(next_try ?? '') - Date.now()).toBeGreaterThan(7_100_000);
  }, within);
  receiver.answer(410);
  await api.client.switchOnWebhook('ci');
  await vi.waitFor(async () => expect((await api.client.getWebhook('ci')).off?.reason).toContain('410'), within);
});

test('a restart of the API sends what was not sent', async () => {
  await api.client.putWebhook('ci', hook({ events: ['run.succeeded'] }));
  await api.client.switchOffWebhook('ci', 'maintenance');
  const runId = await runOnce();
  await vi.waitFor(async () => expect((await api.client.getWebhook('ci')).pending).toBe(1), within);
  await api.restart();
  expect(receiver.asked()).toBe(0);
  await api.client.switchOnWebhook('ci');
  await vi.waitFor(() => expect(typesOf(runId)).toEqual(['run.succeeded']), within);
});

test('a bad request is refused with its field, and changes nothing', async () => {
  const refused: [PutWebhook, string][] = [
    [hook({ url: 'ftp://example.com/' }), '/url'],
    [hook({ url: 'https://user:secret@example.com/' }), '/url'],
    [hook({ url: 'http://example.com/' }), '/url'],
    [hook({ url: 'https://10.0.0.1/' }), '/url'],
    [hook({ url: 'https://localhost.localdomain.invalid/' }), '/url'],
    [hook({ url: 'http://169.254.169.254/latest' }), '/url'],
    [hook({ url: 'http://[::1]:80/' }), '/url'],
    [hook({ url: 'http://127.0.0.2/' }), '/url'],
    [hook({ events: ['run.dreamt'] }), '/events/0'],
    [hook({ events: [] }), '/events'],
  ];
  for (const [body, pointer] of refused) {
    const answer = await api.send('/v1/webhooks/bad', {
      ...{ method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    });
    expect([body.url, answer.status, await answer.json()]).toMatchObject([body.url, 422, { errors: [{ pointer }] }]);
  }
  await expect(api.client.putWebhook('Bad/name', hook())).rejects.toMatchObject({ errors: [{ pointer: '/name' }] });
  expect(await api.client.listWebhooks()).toEqual([]);
});

test('another tenant finds nothing, and a key of an agent manages nothing', async () => {
  await api.client.putWebhook('ci', hook());
  const scopes = ['webhooks:read', 'webhooks:write', 'runs:read'] as const;
  const { key } = await api.client.createKey({ name: 'eve', kind: 'person', tenant: 'acme', scopes: [...scopes] });
  const eve = createClient({ baseUrl: api.address, key });
  const runId = await runOnce();
  for (const ask of [
    () => eve.getWebhook('ci'),
    () => eve.deleteWebhook('ci'),
    () => eve.rotateWebhook('ci'),
    () => eve.testWebhook('ci'),
    () => eve.switchOnWebhook('ci'),
    () => eve.switchOffWebhook('ci'),
    () => eve.listDeliveries('ci'),
    () => eve.redeliverEvent('ci', { run_id: runId, seq: 1 }),
  ])
    await expect(ask()).rejects.toMatchObject({ status: 404, code: 'webhook_not_found' });
  await eve.putWebhook('mine', hook());
  await expect(eve.redeliverEvent('mine', { run_id: runId, seq: 1 })).rejects.toMatchObject({ code: 'run_not_found' });
  expect((await api.client.listWebhooks()).map(({ name }) => name)).toEqual(['ci']);
  await eve.deleteWebhook('mine');
  for (const scope of ['webhooks:read', 'webhooks:write'] as const)
    await expect(api.client.createKey({ name: 'robot', kind: 'agent', scopes: [scope] })).rejects.toMatchObject({
      code: 'invalid_key',
    });
});
