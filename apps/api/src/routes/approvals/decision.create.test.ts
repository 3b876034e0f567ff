import { createClient } from '@holdpoint/client';
import type { Scope } from '@holdpoint/contract';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

let named = 0;
/** A client with a key of its own. */
async function as(name: string, { kind = 'person' as const, scopes = decider } = {}) {
  const { key } = await api.client.createKey({ name, kind, scopes: [...scopes], limits: unlimited });
  return createClient({ baseUrl: api.address, key });
}
const unlimited = { requests_per_s: null, burst: null, streams: null };
const decider: readonly Scope[] = ['runs:read', 'runs:write', 'approvals:read', 'approvals:decide'];

const write = (path: string, content = 'text') => ({ tool: 'write_file', args: { path, content } });
async function heldRun(steps = [write('a.txt')], rule: object = {}, labels = {}) {
  const policy = {
    rules: [{ name: `rule-${++named}`, match: { tool: 'write_file' }, action: 'hold', ...rule }],
  } as object;
  const { run } = await api.client.createRun({
    plan: { groups: steps.map((step) => ({ steps: [step] })) },
    policy,
    labels,
  });
  await worker.drive(run.id);
  return run.id;
}
async function pendingOf(runId: string): Promise<Approval> {
  const [approval] = (await api.client.listApprovals({ run_id: runId })).data;
  if (!approval) throw new Error('nothing is held');
  return approval;
}
const approve = (shown: Approval, more: Partial<Decide> = {}): Decide => ({
  ...{ decision: 'approve', action_digest: shown.action_digest },
  ...more,
});

test('two named callers approve, an agent and the submitter never do, and a delegate counts for the delegating caller', async () => {
  const runId = await heldRun(undefined, { deciders: { names: ['q-*'], quorum: 2, not_submitter: true } });
  const shown = await pendingOf(runId);
  expect(shown).toMatchObject({
    deciders: [{ names: ['q-*'], quorum: 2, not_submitter: true }],
    allowed_decisions: ['approve', 'reject'],
    rule: { policy: 'run', name: `rule-${named}` },
    votes: [],
  });
  const [ann, bob, cy] = [await as('q-ann'), await as('q-bob'), await as('cy')];
  await expect(api.client.decideApproval(shown.id, approve(shown))).rejects.toMatchObject({
    ...{ status: 403, code: 'not_a_decider', message: expect.stringContaining('submitted') },
  });
  await expect(cy.decideApproval(shown.id, approve(shown))).rejects.toMatchObject({ code: 'not_a_decider' });
  await api.client.createKey({ name: 'q-robot', kind: 'agent', scopes: ['runs:read'], limits: unlimited });
  for (const [to, code] of [
    ['q-robot', 'invalid_delegation'],
    ['admin', 'invalid_delegation'],
    ['q-bob', 'invalid_delegation'],
    ['cyy', 'invalid_request'],
  ] as const) {
    await expect(ann.delegateApproval(shown.id, { to })).rejects.toMatchObject({ status: 422, code });
  }
  expect((await ann.delegateApproval(shown.id, { to: 'cy' })).delegations).toEqual([{ from: 'q-ann', to: 'cy' }]);
  expect((await cy.decideApproval(shown.id, approve(shown))).votes).toMatchObject([{ by: 'cy', kind: 'person' }]);
  expect((await ann.decideApproval(shown.id, approve(shown))).status).toBe('pending');
  const decided = await bob.decideApproval(shown.id, approve(shown));
  expect(decided).toMatchObject({ status: 'approved', decision: { by: 'q-bob', votes: [{}, {}, {}] } });
  await worker.drive(runId);
  expect((await api.client.getRun(runId)).status).toBe('succeeded');
});

test('a remembered rule is shown exactly before it is made, is listed, and is revoked', async () => {
  const runId = await heldRun([write('a.txt'), write('a.txt'), write('b.txt')]);
  const shown = await pendingOf(runId);
  expect(shown.remembers).toMatchObject({
    ...{ tool: 'write_file', args: { path: 'a.txt', content: 'text' }, effect: 'workspace', tenant: 'default' },
    ...{ expires_s: 30 * 24 * 3600, needs_external: false, reaches: null },
  });
  const mia = await as('mia');
  await expect(mia.decideApproval(shown.id, approve(shown, { remember: 'policy' }))).rejects.toMatchObject({
    ...{ status: 403, code: 'missing_scope' },
  });
  const decided = await mia.decideApproval(shown.id, approve(shown, { remember: 'run', remember_s: 3600 }));
  await worker.drive(runId);
  const [rule] = (await api.client.listRules({ run_id: runId })).data;
  expect(rule).toMatchObject({
    ...{ id: decided.decision?.made_rule, scope: 'run', run_id: runId, created_by: 'mia', in_force: true },
    ...{ call_digest: shown.remembers?.call_digest, args: { path: 'a.txt', content: 'text', create_only: false } },
  });
  const next = await pendingOf(runId);
  expect(next.action.args).toMatchObject({ path: 'b.txt' });
  const all = await api.client.listApprovals({ run_id: runId, status: ['approved'] });
  expect(all.data.map(({ decision }) => [decision?.by, decision?.rule_id])).toEqual([
    ['mia', rule?.id],
    ['mia', null],
  ]);
  expect(await mia.revokeRule(rule?.id ?? '')).toMatchObject({ in_force: false, revoked_by: 'mia' });
  expect((await api.client.listRules({ run_id: runId })).data).toEqual([]);
  const forAll = await api.client.decideApproval(next.id, approve(next, { remember: 'policy' }));
  const made = forAll.decision?.made_rule ?? '';
  await expect(mia.revokeRule(made)).rejects.toMatchObject({ status: 403, code: 'missing_scope' });
  expect((await api.client.getRule(made)).in_force).toBe(true);
  await api.client.revokeRule(made);
});

test('a remembered rejection decides the same call, and a rule that says the opposite is shown before and after', async () => {
  const [first, second] = [await heldRun([write('c.txt')]), await heldRun([write('c.txt')])];
  const approved = await pendingOf(second);
  const forAll = { remember: 'policy' as const };
  const made = await api.client.decideApproval(approved.id, approve(approved, forAll));
  expect(made.remembered).toMatchObject([{ decision: 'approve', rule_id: made.decision?.made_rule }]);
  const shown = await api.client.getApproval((await pendingOf(first)).id);
  expect(shown.remembered).toMatchObject([{ decision: 'approve', created_by: 'admin', scope: 'policy' }]);
  const decided = await api.client.decideApproval(shown.id, {
    ...{ decision: 'reject', action_digest: shown.action_digest, message: 'not this file', ...forAll },
  });
  const rule = decided.decision?.made_rule ?? '';
  expect(decided.remembered?.map(({ decision }) => decision).sort()).toEqual(['approve', 'reject']);
  expect(await api.client.getRule(rule)).toMatchObject({
    decision: 'reject',
    message: 'not this file',
    in_force: true,
  });
  await worker.drive(first);
  const steps = (await api.client.listSteps(first)).data;
  expect(steps.map(({ status }) => status)).toEqual(['rejected']);
  const again = await heldRun([write('c.txt')]);
  const [step] = (await api.client.listSteps(again)).data;
  expect(await api.client.getStep(step?.id ?? '')).toMatchObject({
    ...{ status: 'rejected', result: { error: { code: 'EREJECTED', next: expect.stringContaining('Do not try') } } },
  });
  for (const id of [rule, made.decision?.made_rule ?? '']) await api.client.revokeRule(id);
});

test('both versions of an edited call are shown, with the differences', async () => {
  const runId = await heldRun();
  const shown = await pendingOf(runId);
  await api.client.decideApproval(shown.id, {
    ...{ decision: 'edit', action_digest: shown.action_digest, args: { path: 'b.txt', content: 'text' } },
  });
  await worker.drive(runId);
  expect(await api.client.getApproval(shown.id)).toMatchObject({
    action: { args: { path: 'a.txt', content: 'text' } },
    decision: { args: { path: 'b.txt' }, changes: [{ pointer: '/path', asked: 'a.txt', ran: 'b.txt' }] },
  });
});

test('a shortened approval has a mark, and only a caller who opened the whole can approve', async () => {
  const content = `${'a line of text\n'.repeat(4000)}rm -rf \u202e~\n`;
  const runId = await heldRun([write('long.txt', content)]);
  const shown = await pendingOf(runId);
  expect(shown.cut?.args).toBeGreaterThan(content.length);
  expect(JSON.stringify(shown).length).toBeLessThan(64 * 1024);
  expect(shown.readable.args).toMatch(/\[cut: the first 2000 of \d+ characters are shown\]/);
  expect(shown.readable.hidden).toBe(true);
  const refused = { status: 409, code: 'not_opened' };
  await expect(api.client.decideApproval(shown.id, approve(shown))).rejects.toMatchObject(refused);
  const guess = approve(shown, { content_digest: shown.action_digest });
  await expect(api.client.decideApproval(shown.id, guess)).rejects.toMatchObject(refused);
  const items = [{ approval_id: shown.id, action_digest: shown.action_digest }];
  expect(await api.client.decideApprovals({ decision: 'approve', items })).toMatchObject([
    { status: 'pending', problem: { code: 'not_opened' } },
  ]);
  const whole = await api.client.getApprovalContent(shown.id);
  expect(whole.args).toMatchObject({ content });
  expect(whole.readable.args).toContain('rm -rf <U+202E>~');
  const { content_digest } = whole;
  expect((await api.client.decideApproval(shown.id, approve(shown, { content_digest }))).status).toBe('approved');
});

test('imitating letters and invisible characters are written out for a person', async () => {
  const runId = await heldRun([write('сору\u200b.txt', 'x')]);
  const shown = await pendingOf(runId);
  expect(shown.readable).toMatchObject({
    action: expect.stringContaining('<U+0441><U+043E><U+0440><U+0443><U+200B>.txt'),
    args: expect.stringContaining('path: "<U+0441><U+043E><U+0440><U+0443><U+200B>.txt"'),
    hidden: true,
  });
  expect(shown.action.args).toMatchObject({ path: 'сору\u200b.txt' });
});

test('many approvals are decided by a filter and the seen digests, each with its own result', async () => {
  const team = { labels: { team: `t${Date.now()}` } }.labels;
  const [one, two] = [await heldRun(undefined, {}, team), await heldRun([write('b.txt')], {}, team)];
  const other = await pendingOf(await heldRun());
  const label = { name: 'team', value: team.team };
  const listed = (await api.client.listApprovals({ label: `team=${team.team}`, tool: 'write_file' })).data;
  expect(listed.map(({ run_id }) => run_id).sort()).toEqual([one, two].sort());
  expect((await api.client.listApprovals({ label: `team=${team.team}`, older_than_s: 3600 })).data).toEqual([]);
  const [first, second] = listed;
  if (!first || !second) throw new Error('two are listed');
  const seen = [first.action_digest];
  expect(first.action_digest).not.toBe(second.action_digest);
  const results = await api.client.decideApprovals({ decision: 'reject', filter: { label }, seen });
  expect(Object.fromEntries(results.map(({ approval_id, problem }) => [approval_id, problem?.code ?? null]))).toEqual({
    [first.id]: null,
    [second.id]: 'not_seen',
  });
  const items = [first, second, other].map(({ id, action_digest }) => ({ approval_id: id, action_digest }));
  const unknown = { approval_id: 'apr_00000000-0000-7000-8000-000000000000', action_digest: 'x' };
  expect(await api.client.decideApprovals({ decision: 'approve', items: [...items, unknown] })).toMatchObject([
    { status: 'rejected', problem: { code: 'already_decided' } },
    { status: 'approved', problem: null },
    { status: 'approved', problem: null },
    { status: null, problem: { code: 'approval_not_found' } },
  ]);
  const { key } = await api.client.createKey({
    ...{ name: 'a foreign one', kind: 'person', tenant: 'acme', scopes: [...decider], limits: unlimited },
  });
  const foreign = createClient({ baseUrl: api.address, key });
  const pending = await pendingOf(await heldRun());
  const asked = [{ approval_id: pending.id, action_digest: pending.action_digest }];
  expect(await foreign.decideApprovals({ decision: 'approve', items: asked })).toMatchObject([
    { status: null, problem: { code: 'approval_not_found' } },
  ]);
});

test('a delegate whose key may not decide is refused, and the votes are counted', async () => {
  const shown = await pendingOf(await heldRun(undefined, { deciders: { names: ['admin', 'd-*'], quorum: 2 } }));
  await as('reader', { scopes: ['approvals:read'] });
  await expect(api.client.delegateApproval(shown.id, { to: 'reader' })).rejects.toMatchObject({
    ...{ status: 422, code: 'invalid_delegation', message: expect.stringContaining('approvals:decide') },
  });
  expect(shown.quorum).toEqual({ approved: 0, needed: 2, by: [] });
  const voted = await api.client.decideApproval(shown.id, approve(shown));
  expect(voted.quorum).toEqual({ approved: 1, needed: 2, by: ['admin'] });
});

test('a held call runs for show: the result replaces the question, and approving applies exactly that', async () => {
  const runId = await heldRun();
  const shown = await pendingOf(runId);
  const asked = api.client.previewApproval(shown.id);
  await vi.waitFor(async () => expect((await pendingOf(runId)).preview_request).toMatchObject({ status: 'running' }), {
    timeout: 60_000,
  });
  await worker.show(runId);
  const result = await asked;
  expect(result).toMatchObject({
    ...{ replaces: shown.id, status: 'pending', preview_request: null, expires_at: shown.expires_at },
    preview: { kind: 'result', status: 'succeeded', changes: [{ path: 'a.txt' }] },
  });
  expect(await api.client.getApproval(shown.id)).toMatchObject({ status: 'canceled', superseded_by: result.id });
  expect((await pendingOf(runId)).id).toBe(result.id);
  await expect(api.client.decideApproval(shown.id, approve(shown))).rejects.toMatchObject({
    ...{ status: 409, code: 'action_changed', next: expect.stringContaining(result.id) },
  });
  expect((await api.client.previewApproval(shown.id)).id).toBe(result.id);
  expect((await api.client.diff(runId)).files).toEqual([]);
  await api.client.decideApproval(result.id, approve(result));
  await worker.drive(runId);
  expect((await api.client.getRun(runId)).status).toBe('succeeded');
  expect((await api.client.diff(runId)).files).toMatchObject([{ path: 'a.txt', status: 'added' }]);
  await expect(api.client.previewApproval(shown.id)).rejects.toMatchObject({ code: 'already_decided' });
});

test('a preview needs the right to decide, and a call that can run ahead', async () => {
  const runId = await heldRun(undefined, { deciders: { names: ['w-*'] } });
  const shown = await pendingOf(runId);
  await expect(api.client.previewApproval(shown.id)).rejects.toMatchObject({ status: 403, code: 'not_a_decider' });
  const reader = await as('w-reader', { scopes: ['runs:read', 'approvals:read'] as never });
  await expect(reader.previewApproval(shown.id)).rejects.toMatchObject({ status: 403, code: 'missing_scope' });
  await expect(api.client.previewApproval('apr_x')).rejects.toMatchObject({ code: 'approval_not_found' });
  expect((await pendingOf(runId)).preview_request).toBeNull();
});

test('comments on lines reach the planner as text, with a decision and with a message', async () => {
  const runId = await heldRun();
  const shown = await pendingOf(runId);
  const comments = [{ path: 'a.txt', line: 1, quote: 'text', text: 'Say more.' }];
  const words = 'Not like this.\n\nComments on lines:\n\na.txt, line 1\n> text\nSay more.';
  for (const [wrong, pointer] of [
    [{ path: '../a.txt', line: 1, text: 'x' }, '/comments/0/path'],
    [{ path: 'a.txt', line: 0, text: 'x' }, '/comments/0/line'],
    [{ path: 'a.txt', line: 1, text: ' ' }, '/comments/0/text'],
  ] as const) {
    const body = { decision: 'reject', action_digest: shown.action_digest, comments: [wrong] };
    const problem = await problemOf(await api.post(`/v1/approvals/${shown.id}/decision`, body));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ pointer }] });
  }
  const reject: Decide = {
    decision: 'reject',
    action_digest: shown.action_digest,
    message: 'Not like this.',
    comments,
  };
  expect(await api.client.decideApproval(shown.id, reject)).toMatchObject({ decision: { message: words } });
  // The same again gets the same answer.
  expect(await api.client.decideApproval(shown.id, reject)).toMatchObject({ status: 'rejected' });
  const [step] = (await api.client.listSteps(runId)).data;
  expect(step?.error?.message).toContain(`They say: ${words}`);
  await api.client.sendMessage(runId, 'Not like this.', { comments });
  const { data } = await api.client.listEvents(runId);
  expect(data.find(({ type }) => type === 'message.received')?.data).toMatchObject({ text: words });
});
