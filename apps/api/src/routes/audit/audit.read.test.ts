import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { auditRecordSchema } from '@holdpoint/contract';
import { sealAll } from '@holdpoint/engine/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let runs: string[];
beforeAll(async () => {
  api = await startTestApi();
  const worker = testWorker(api.engine, api.dataDir);
  runs = [];
  for (const path of ['a.txt', 'b.txt']) {
    const steps = [{ tool: 'write_file', args: { path, content: 'x' } }];
    const { run } = await api.client.createRun({ plan: { groups: [{ steps }] } });
    await worker.drive(run.id);
    runs.push(run.id);
  }
  await sealAll({ ...api.engine, dataDir: api.dataDir, redact: (text) => text });
});
afterAll(() => api.stop());

test('lists the records page by page, and by run and time', async () => {
  const { data: all } = await api.client.listAudit();
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
  const calls = all.filter((record) => record.kind === 'call');
  expect(calls).toMatchObject([
    { run_id: runs[0], tool: 'write_file', submitted_by: { name: 'admin' }, outcome: { status: 'succeeded' } },
    { run_id: runs[1] },
  ]);
  const first = await api.client.listAudit({ limit: 2 });
  expect(first).toMatchObject({ has_more: true, next_cursor: '2' });
  const second = await api.client.listAudit({ cursor: first.next_cursor ?? '' });
  expect([...first.data, ...second.data]).toEqual(all);
  const { data: ofRun } = await api.client.listAudit({ run_id: runs[1] });
  expect(ofRun).toEqual(all.filter((record) => 'run_id' in record && record.run_id === runs[1]));
  expect((await api.client.listAudit({ since: '2100-01-01T00:00:00Z' })).data).toEqual([]);
  expect((await api.client.listAudit({ since: all[0]?.time })).data).toEqual(all);
});

test('lists the last records first, page by page, and by kind', async () => {
  const { data: all } = await api.client.listAudit();
  const found: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await api.client.listAudit({ order: 'desc', limit: 2, cursor });
    found.push(...page.data);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(found).toEqual(all.toReversed());
  const { data: calls } = await api.client.listAudit({ kind: ['call', 'change'] });
  expect(calls).toEqual(all.filter(({ kind }) => kind === 'call' || kind === 'change'));
  const ofRun = await api.client.listAudit({ order: 'desc', kind: ['call'], run_id: runs[0] });
  expect(ofRun.data).toEqual(all.filter((record) => record.kind === 'call' && record.run_id === runs[0]));
});

test('a link downloads the lines', async () => {
  const { data: all } = await api.client.listAudit();
  const answer = await api.send('/v1/audit?format=jsonl&kind=call');
  expect(answer.headers.get('content-type')).toContain('ndjson');
  const lines = (await answer.text()).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(all.filter(({ kind }) => kind === 'call'));
});

test('streams the lines as they were sealed', async () => {
  const { data: all } = await api.client.listAudit();
  let text = '';
  for await (const bytes of await api.client.exportAudit({ cursor: '1' })) text += Buffer.from(bytes).toString();
  const lines = text.split('\n').slice(0, -1);
  expect(lines.map((line) => auditRecordSchema.parse(JSON.parse(line)))).toEqual(all.slice(1));
});

test('rejects a malformed query with its place', async () => {
  for (const [query, pointer] of [
    ['since=yesterday', 'since'],
    ['run_id=run_1', 'run_id'],
    ['cursor=-1', 'cursor'],
    ['limit=0', 'limit'],
    ['kind=calls', 'kind.0'],
    ['order=last', 'order'],
  ]) {
    const problem = await problemOf(await api.send(`/v1/audit?${query}`));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer }] });
  }
  expect((await problemOf(await api.send('/v1/audit/verify?head=1'))).status).toBe(422);
});

test('verifies, also against a head that was kept', async () => {
  const head = await api.client.auditHead();
  const kept = `${head.seq}:${head.hash}`;
  expect(await api.client.verifyAudit({ head: kept })).toMatchObject({ ok: true, head, runs: 2, findings: [] });
  expect(await api.client.verifyAudit({ head: `${head.seq}:${'0'.repeat(64)}` })).toMatchObject({
    ok: false,
    findings: [{ code: 'head_changed', record: head.seq }],
  });
  const [name = ''] = await readdir(join(api.dataDir, 'audit'));
  await appendFile(join(api.dataDir, 'audit', name), '{}\n');
  expect(await api.client.verifyAudit()).toMatchObject({
    ok: false,
    findings: [{ code: 'record_changed', file: name }],
  });
});

test('records who created, rotated and revoked a key, without its text', async () => {
  const created = await api.client.createKey({ name: 'builder', kind: 'service', scopes: ['runs:read'] });
  const rotated = await api.client.rotateKey(created.id);
  await api.client.revokeKey(created.id);
  await sealAll({ ...api.engine, dataDir: api.dataDir, redact: (text) => text });
  const changes = (await api.client.listAudit({ limit: 200 })).data.filter((record) => record.kind === 'change');
  expect(changes.map(({ by, subject, action }) => [by.name, by.kind, subject, action])).toEqual(
    ['created', 'rotated', 'revoked'].map((action) => ['admin', 'person', `key/${created.id}`, action]),
  );
  const text = JSON.stringify(changes);
  for (const { key } of [created, rotated]) expect(text).not.toContain(key);
});
