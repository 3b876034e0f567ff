import { createClient } from '@holdpoint/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
const since = '2020-01-01T00:00:00Z';
const hold = (tool: string) => ({ rules: [{ match: { tool }, action: 'hold' as const }] });
const writing = (path: string) => ({ groups: [{ steps: [{ tool: 'write_file', args: { path, content: path } }] }] });

/** A run whose only call is held, and decided. */
async function decided(
  path: string,
  decision: 'approve' | 'reject',
  policy: object = hold('write_file'),
): Promise<string> {
  const { run } = await api.client.createRun({ plan: writing(path), policy: policy as ReturnType<typeof hold> });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  await api.client.decideApproval(approval?.id ?? '', { decision, action_digest: approval?.action_digest ?? '' });
  await worker.drive(run.id);
  return run.id;
}

let runs: string[];
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  await api.client.putPolicy('careful', hold('write_file'));
  runs = [
    await decided('docs/a.md', 'approve'),
    await decided('docs/b.md', 'approve'),
    await decided('docs/c.md', 'approve'),
    await decided('src/x.ts', 'reject', { name: 'careful' }),
  ];
  const { run } = await api.client.createRun({ plan: { groups: [{ steps: [{ tool: 'list_directory', args: {} }] }] } });
  await worker.drive(run.id);
});
afterAll(() => api.stop());

test('the calls of runs are judged again, and what people refused comes first', async () => {
  const before = await contentOf(api.engine);
  const replay = await api.client.replayPolicy({
    since,
    policy: { rules: [{ match: { tool: 'list_directory' }, action: 'deny' }] },
  });
  expect(replay).toMatchObject({
    ...{ runs: 5, calls: 5, unchanged: 0, left_out: 0, next_cursor: null, not_judged: [] },
    counts: { allow: 4, hold: 0, deny: 1 },
  });
  const [first, , , , last] = replay.changed;
  expect(first).toMatchObject({
    ...{ run_id: runs[3], tool: 'write_file', was: 'hold', decided: { kind: 'reject', by: 'admin' } },
    ...{ args: '{"path":"src/x.ts","content":"src/x.ts"}', verdict: { action: 'allow', rule: { policy: 'builtin' } } },
  });
  expect(last).toMatchObject({
    was: 'allow',
    decided: null,
    verdict: { action: 'deny', rule: { policy: 'run', index: 0 } },
  });
  expect(await contentOf(api.engine)).toEqual(before);
});

test('only the runs with a named policy, and only those since a time', async () => {
  const replay = await api.client.replayPolicy({ since, name: 'careful', policy: { rules: [] } });
  expect(replay).toMatchObject({ runs: 1, calls: 1, counts: { allow: 1 } });
  const same = await api.client.replayPolicy({ since, name: 'careful', policy: { name: 'careful' } });
  expect(same).toMatchObject({ runs: 1, calls: 1, unchanged: 1, changed: [] });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect(await api.client.replayPolicy({ since: later, policy: { rules: [] } })).toMatchObject({ runs: 0, calls: 0 });
});

test("a document in place of the operator's policies", async () => {
  const replay = await api.client.replayPolicy({ since, name: 'operator', policy: hold('list_directory') });
  expect(replay).toMatchObject({ runs: 5, unchanged: 4, counts: { allow: 0, hold: 1, deny: 0 } });
});

test('rules are proposed for what people always approved, and nothing is changed', async () => {
  const before = await contentOf(api.engine);
  const { data, calls } = await api.client.proposeRules({ since });
  expect(calls).toBe(4);
  expect(data).toMatchObject([
    {
      summary: 'approved 3 times, never refused; this rule would have let these calls through',
      rules: [{ action: 'allow', match: { tool: 'write_file', paths: { globs: ['docs/*'], access: 'write' } } }],
      calls: [{ tool: 'write_file' }, { tool: 'write_file' }, { tool: 'write_file' }],
    },
  ]);
  expect((await api.client.proposeRules({ since, least: 4 })).data).toEqual([]);
  expect(await contentOf(api.engine)).toEqual(before);
  const proposed = await api.client.replayPolicy({
    since,
    policy: { rules: [...(data[0]?.rules ?? []), ...hold('write_file').rules] },
  });
  expect(proposed.counts).toEqual({ allow: 3, hold: 0, deny: 0 });
});

test('a call whose tool is gone is listed apart', async () => {
  const [run] = runs;
  const key = `hp:{${run}}:log`;
  const events = await api.engine.redis.xrange(key, '-', '+');
  await api.engine.redis.del(key);
  for (const [id, fields] of events) {
    await api.engine.redis.xadd(
      key,
      id,
      ...fields.map((text) => text.replaceAll('"tool":"write_file"', '"tool":"gone"')),
    );
  }
  const { not_judged, calls, unchanged } = await api.client.replayPolicy({ since, policy: hold('write_file') });
  expect([calls, unchanged]).toEqual([5, 4]);
  expect(not_judged).toMatchObject([{ run_id: run, tool: 'gone', reason: expect.stringContaining('gone') }]);
});

test('another tenant replays its own runs alone', async () => {
  const made = { name: 'eve', kind: 'person', tenant: 'acme', scopes: ['runs:read'] } as const;
  const { key } = await api.client.createKey({ ...made, scopes: [...made.scopes] });
  const eve = createClient({ baseUrl: api.address, key });
  expect(await eve.replayPolicy({ since, policy: { rules: [] } })).toMatchObject({ runs: 0, calls: 0 });
  expect(await eve.replayPolicy({ since, policy: { rules: [] }, cursor: runs[3] })).toMatchObject({ runs: 0 });
  expect((await eve.proposeRules({ since })).calls).toBe(0);
  const byName = eve.replayPolicy({ since, policy: { name: 'careful' } });
  await expect(byName).rejects.toMatchObject({ status: 403, code: 'missing_scope' });
  const other = await api.client.createKey({ name: 'pol', kind: 'person', scopes: ['policies:read'] });
  const reader = createClient({ baseUrl: api.address, key: other.key });
  await expect(reader.proposeRules({ since })).rejects.toMatchObject({ status: 403 });
  await reader.close();
  await eve.close();
});

test.for([
  [
    { policy: { rules: [{ match: { tool: 'edti' }, action: 'hold' }] } },
    'invalid_policy',
    '/policy/rules/0/match/tool',
  ],
  [{ policy: { name: 'nope' } }, 'unknown_policy', '/policy/name'],
  [{ policy: { rules: [] }, since: '30 days' }, 'invalid_request', '/since'],
  [{ policy: { rules: [] }, sinse: since }, 'invalid_policy', '/sinse'],
] as const)('%j is refused', async ([body, code, pointer]) => {
  const problem = await problemOf(await api.post('/v1/policies/replay', { since, ...body }));
  expect(problem).toMatchObject({ status: 422, code, errors: [{ pointer }] });
});
