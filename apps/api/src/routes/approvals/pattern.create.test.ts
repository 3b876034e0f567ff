import { createClient } from '@holdpoint/client';
import type { Approval, ApprovalPattern, ConfirmPattern, Decide } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const holdsWrites = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
async function runOf(path: string, policy: object): Promise<string> {
  const plan = { groups: [{ steps: [{ tool: 'write_file', args: { path, content: 'text' } }] }] };
  const { run } = await api.client.createRun({ plan, policy });
  await worker.drive(run.id);
  return run.id;
}
async function decided(path: string, policy: object, decision: Decide['decision'] = 'approve'): Promise<Approval> {
  const [held] = (await api.client.listApprovals({ run_id: await runOf(path, policy) })).data;
  if (held === undefined) throw new Error('nothing is held');
  return api.client.decideApproval(held.id, { decision, action_digest: held.action_digest });
}
/** A policy with this name, and three approved calls in a folder of its own. */
async function approvedThree(name: string): Promise<Approval> {
  await api.client.putPolicy(name, holdsWrites);
  for (const file of ['a', 'b']) await decided(`${name}/${file}.md`, { name });
  return decided(`${name}/c.md`, { name });
}
const statusOf = async (runId: string) => (await api.client.listSteps(runId)).data[0]?.status;
const bodyOf = ({ proposal, since, least }: ApprovalPattern): ConfirmPattern => ({
  ...{ digest: proposal?.digest ?? '', rules: proposal?.rules ?? [], since, least },
});
const post = (id: string, body: object) => api.post(`/v1/approvals/${id}/pattern`, body);

test('a pattern is shown with the past calls that it would have let through, and holds exactly so once it is confirmed', async () => {
  const approval = await approvedThree('docs');
  const shown = await api.client.getApprovalPattern(approval.id);
  expect(shown).toMatchObject({
    ...{ approval_id: approval.id, policy: { name: 'docs', version: 1 }, why_not: null, least: 3 },
    proposal: { approved: 3, rules: [{ match: { paths: { globs: ['docs/*'], access: 'write' } }, action: 'allow' }] },
    replay: { runs: 3, calls: 3, counts: { allow: 3, hold: 0, deny: 0 }, damaged: 0, complete: true },
  });
  expect(shown.replay?.changed.map(({ was, verdict }) => [was, verdict.action])).toContainEqual(['hold', 'allow']);
  expect((await api.client.getPolicy('docs')).version).toBe(1);
  const stored = await api.client.confirmApprovalPattern(approval.id, bodyOf(shown));
  expect(stored).toMatchObject({
    ...{ name: 'docs', version: 2, by: 'admin' },
    document: { rules: [...(shown.proposal?.rules ?? []), ...holdsWrites.rules] },
  });
  expect(await statusOf(await runOf('docs/new.md', { name: 'docs' }))).toBe('succeeded');
  for (const path of ['docs/deeper/new.md', 'new.md', 'docs2/new.md']) {
    expect(await statusOf(await runOf(path, { name: 'docs' })), path).toBe('parked');
  }
  const again = await problemOf(await post(approval.id, bodyOf(shown)));
  expect(again).toMatchObject({ status: 409, code: 'pattern_changed' });
  expect(again.errors?.[1]?.detail).toBe('now: the policy has these rules already');
  expect(await api.client.getApprovalPattern(approval.id)).toMatchObject({
    ...{ proposal: null, replay: null, why_not: 'the policy has these rules already' },
  });
});

test('what has changed since it was shown is refused with both, and changes nothing', async () => {
  const approval = await approvedThree('moved');
  const shown = await api.client.getApprovalPattern(approval.id);
  const refused = async (body: object) => problemOf(await post(approval.id, body));
  const wider = [{ match: {}, action: 'allow' }];
  for (const body of [
    { ...bodyOf(shown), rules: wider },
    { ...bodyOf(shown), digest: `sha256:${'0'.repeat(64)}` },
  ]) {
    const problem = await refused(body);
    expect(problem).toMatchObject({ status: 409, code: 'pattern_changed' });
    expect(problem.errors?.map(({ detail }) => detail)).toEqual([
      `shown: ${JSON.stringify(body.rules)}, with the digest ${body.digest}`,
      expect.stringContaining(`now: ${JSON.stringify(shown.proposal?.rules)} for version 1 of moved`),
    ]);
  }
  expect((await api.client.getPolicy('moved')).version).toBe(1);
  await api.client.putPolicy('moved', { rules: [...holdsWrites.rules, { match: { tool: 'bash' }, action: 'hold' }] });
  expect(await refused(bodyOf(shown))).toMatchObject({ status: 409, code: 'pattern_changed' });
  await decided('moved/d.md', { name: 'moved' }, 'reject');
  const now = await refused(bodyOf(shown));
  expect(now.errors?.[1]?.detail).toContain('or one was refused');
  expect((await api.client.getPolicy('moved')).version).toBe(2);
});

test('ten confirmations at once make one version', async () => {
  const approval = await approvedThree('crowd');
  const shown = await api.client.getApprovalPattern(approval.id);
  const answers = await Promise.allSettled(
    Array.from({ length: 10 }, () => api.client.confirmApprovalPattern(approval.id, bodyOf(shown))),
  );
  expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(['pattern_changed', 'policy_changed']).toContain(answer.reason.code);
    else expect(answer.value.version).toBe(2);
  }
  expect((await api.client.getPolicy('crowd')).version).toBe(2);
});

test('the rules of a run without a named policy go into a new one', async () => {
  for (const file of ['a', 'b']) await decided(`own/${file}.md`, holdsWrites);
  const approval = await decided('own/c.md', holdsWrites);
  const shown = await api.client.getApprovalPattern(approval.id);
  expect(shown).toMatchObject({ policy: null, proposal: { approved: 3 } });
  const unnamed = await problemOf(await post(approval.id, bodyOf(shown)));
  expect(unnamed).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ pointer: '/name' }] });
  await api.client.putPolicy('taken', holdsWrites);
  const taken = await problemOf(await post(approval.id, { ...bodyOf(shown), name: 'taken' }));
  expect(taken).toMatchObject({ status: 409, code: 'policy_changed' });
  const stored = await api.client.confirmApprovalPattern(approval.id, { ...bodyOf(shown), name: 'own' });
  expect(stored).toMatchObject({ name: 'own', version: 1 });
  expect(await statusOf(await runOf('own/new.md', { name: 'own' }))).toBe('succeeded');
});

test('too few approvals have no pattern, and a key without the right or of another tenant confirms none', async () => {
  await api.client.putPolicy('few', holdsWrites);
  const approval = await decided('few/a.md', { name: 'few' });
  const shown = await api.client.getApprovalPattern(approval.id);
  expect(shown).toMatchObject({ proposal: null, why_not: expect.stringContaining('too few were approved') });
  const one = await api.client.getApprovalPattern(approval.id, { least: 1 });
  expect(one).toMatchObject({ proposal: { approved: 1 } });
  const unlimited = { requests_per_s: null, burst: null, streams: null };
  const keys = [
    { name: 'reader', kind: 'person', scopes: ['runs:read', 'approvals:decide'], limits: unlimited },
    { name: 'stranger', kind: 'person', scopes: ['runs:read', 'policies:write'], tenant: 'acme', limits: unlimited },
  ] as const;
  for (const [at, { scopes, ...given }] of keys.entries()) {
    const { key } = await api.client.createKey({ ...given, scopes: [...scopes] });
    const other = createClient({ baseUrl: api.address, key });
    const refused = other.confirmApprovalPattern(approval.id, bodyOf(one));
    await expect(refused).rejects.toMatchObject({ status: at === 0 ? 403 : 404 });
    await other.close();
  }
});
