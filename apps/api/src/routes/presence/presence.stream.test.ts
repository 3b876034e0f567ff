import { randomUUID } from 'node:crypto';
import type { Scope } from '@holdpoint/contract';
import { presenceMs } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let approval: string;
beforeAll(async () => {
  api = await startTestApi({ heartbeatMs: 100 });
  const steps = [{ tool: 'write_file', args: { path: 'a', content: 'a' } }];
  const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
  const { run } = await api.client.createRun({ plan: { groups: [{ steps }] }, policy });
  await testWorker(api.engine, api.dataDir).drive(run.id);
  approval = (await api.client.listApprovals({})).data[0]?.id ?? '';
});
afterAll(() => api.stop());

const keyWith = async (name: string, scopes: Scope[], tenant?: string) =>
  (await api.client.createKey({ name, kind: 'person', scopes, tenant })).key;
const as = (key: string, path: string, init: RequestInit = {}) =>
  api.send(path, { ...init, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } });
const look = (key: string, page: string = randomUUID(), id = approval) =>
  as(key, `/v1/approvals/${id}/presence`, { method: 'PUT', body: JSON.stringify({ page }) });
const leave = (key: string, page: string) =>
  as(key, `/v1/approvals/${approval}/presence?page=${page}`, { method: 'DELETE' });
const viewers = async (): Promise<string[]> =>
  (await api.client.listPresence()).flatMap((one) => one.viewers.map(({ name }) => name)).toSorted();

/** The text of a stream of all runs, as it comes. */
function streamAs(key: string) {
  const gone = new AbortController();
  const heard = { text: '', end: () => gone.abort() };
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  void fetch(`${api.address}/v1/events`, { headers, signal: gone.signal })
    .then(async ({ body }) => {
      for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) heard.text += piece;
    })
    .catch(() => undefined);
  return heard;
}

test('callers with the right see who looks and who has left; one with two pages is there until both are left', async () => {
  const ann = await keyWith('ann', ['approvals:read']);
  const watching = streamAs(await keyWith('watch', ['runs:read', 'approvals:read']));
  await expect.poll(() => watching.text).toContain('still here');
  const [one, two] = [randomUUID(), randomUUID()];
  for (const page of [one, two]) expect((await look(ann, page)).status).toBe(204);
  await expect.poll(viewers).toEqual(['ann']);
  await expect.poll(() => watching.text).toMatch(/event: presence\.changed\ndata: .*"name":"ann"/);
  await leave(ann, one);
  expect(await viewers()).toEqual(['ann']);
  await leave(ann, two);
  await expect.poll(viewers).toEqual([]);
  await expect.poll(() => watching.text).toContain('"viewers":[]');
  watching.end();
});

test('a stream or a list without the right, or of another tenant, says nothing of it', async () => {
  const bob = await keyWith('bob', ['approvals:read']);
  const without = streamAs(await keyWith('no approvals', ['runs:read']));
  const other = await keyWith('eve', ['runs:read', 'approvals:read'], 'acme');
  const foreign = streamAs(other);
  for (const stream of [without, foreign]) await expect.poll(() => stream.text).toContain('still here');
  const before = [without, foreign].map(({ text }) => text.length);
  await look(bob);
  await expect.poll(viewers).toEqual(['bob']);
  // The heartbeats after the change show that the streams had the time to tell.
  for (const [at, stream] of [without, foreign].entries()) {
    await expect.poll(() => stream.text.length).toBeGreaterThan((before[at] ?? 0) + 20);
    expect(stream.text).not.toContain('presence');
    stream.end();
  }
  expect(await (await as(other, '/v1/presence')).json()).toEqual({ data: [] });
  expect((await look(other)).status).toBe(404);
  const refused = await as(await keyWith('reader', ['runs:read']), '/v1/presence');
  expect(await problemOf(refused)).toMatchObject({ status: 403, code: 'missing_scope' });
});

test('ends with the last sign, and leaves nothing in Redis', async () => {
  const carl = await keyWith('carl', ['approvals:read']);
  await as(carl, '/v1/presence');
  const before = await contentOf(api.engine);
  await look(carl);
  await expect.poll(viewers).toContain('carl');
  expect(await contentOf(api.engine)).toEqual(before);
  const [entry] = await api.client.listPresence();
  const carlEntry = entry?.viewers.find(({ name }) => name === 'carl');
  const until = Date.parse(carlEntry?.until ?? '');
  expect(until - Date.now()).toBeLessThanOrEqual(presenceMs);
});

test('a key counts with a bounded number of pages', async () => {
  const dan = await keyWith('dan', ['approvals:read']);
  const pages = Array.from({ length: 25 }, () => randomUUID());
  for (const page of pages) await look(dan, page);
  // The oldest five no longer count: without the other twenty, dan has left.
  for (const page of pages.slice(5)) await leave(dan, page);
  await expect.poll(viewers).not.toContain('dan');
});
