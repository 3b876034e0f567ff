import type { Approval, ApprovalContext } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const held = (command: string) => ({ tool: 'bash', args: { command } });
const read = (path: string) => ({ tool: 'read_file', args: { path } });
/** A turn each: the words of the model, and its calls. */
type Turn = readonly [message: string, ...calls: { tool: string; args: object }[]];
let turns: readonly Turn[] = [];
beforeEach(() => {
  worker = testWorker(api.engine, api.dataDir, {
    async next({ turn }) {
      const [message = 'done', ...calls] = turns[turn - 1] ?? [];
      return calls.length === 0
        ? { kind: 'finish', message, answer: message }
        : { kind: 'calls', message, calls: calls as never };
    },
  });
});

const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
async function modelRun(...planned: readonly Turn[]): Promise<string> {
  turns = planned;
  const { run } = await api.client.createRun({ prompt: 'Go', model: 'ollama/any', policy });
  await worker.drive(run.id);
  return run.id;
}
async function pendingOf(run_id: string): Promise<Approval> {
  const [approval] = (await api.client.listApprovals({ run_id })).data;
  if (approval === undefined) throw new Error('nothing is held');
  return approval;
}
async function decide(runId: string, decision: 'approve' | 'reject', more: object = {}): Promise<Approval> {
  const approval = await pendingOf(runId);
  await api.client.decideApproval(approval.id, { decision, action_digest: approval.action_digest, ...more });
  await worker.drive(runId);
  return approval;
}
const contextOf = async (runId: string): Promise<ApprovalContext> =>
  api.client.getApprovalContext((await pendingOf(runId)).id);

test('has the words of the turn, and what was read since the last decision', async () => {
  const runId = await modelRun(
    ['I look at a.', read('a.txt'), read('b/../a.txt')],
    ['I build.', held('make')],
    ['I look at c.', read('c.txt')],
    ['I pull it.', held('git pull origin main')],
  );
  const first = await contextOf(runId);
  expect(first).toMatchObject({ turn: 2, message: 'I build.', since: null });
  expect(first.read).toEqual({ calls: 2, files: ['a.txt'], hosts: [], commands: [], cut: false });
  const decided = await decide(runId, 'reject');
  const second = await contextOf(runId);
  expect(second).toMatchObject({
    ...{ turn: 4, message: 'I pull it.', read: { calls: 1, files: ['c.txt'], commands: [] } },
    since: { approval_id: decided.id, decision: 'reject', by: expect.any(String), at: expect.any(String) },
  });
  // Read later: the decided approval still has what led to it.
  await decide(runId, 'reject');
  expect(await api.client.getApprovalContext(decided.id)).toMatchObject({ ...first, decided: expect.anything() });
});

test('counts how people decided on the same call and on calls like it, in all runs', async () => {
  const push: Turn = ['I push.', held('git push origin main')];
  const one = await modelRun(push, push, ['I push more.', held('git push --force')], ['I ask.', held('git status')]);
  await decide(one, 'approve');
  await decide(one, 'reject');
  await decide(one, 'reject');
  await decide(one, 'approve');
  const other = await modelRun(['I push here.', held('git push origin main')]);
  const { decided } = await contextOf(other);
  expect(decided).toMatchObject({
    ...{ same: { approve: 1, edit: 0, reject: 1 }, head: 'git push', complete: true },
    last: expect.arrayContaining([expect.objectContaining({ run_id: one, decision: 'approve', same: true })]),
  });
  expect(decided?.alike).toMatchObject({ approve: 1, reject: 2 });
});

test('a remembered rule is no decision', async () => {
  const call: Turn = ['I test.', held('npm test')];
  const one = await modelRun(call, call, ['Again.', held('npm test')], ['I build.', held('npm run build')]);
  await decide(one, 'approve', { remember: 'run' });
  const { decided, since } = await contextOf(one);
  expect(decided).toMatchObject({ head: 'npm run', same: { approve: 0 }, alike: { approve: 0 } });
  expect(since).toMatchObject({ decision: 'approve' });
  const other = await modelRun(['I test, too.', held('npm test')]);
  expect((await contextOf(other)).decided).toMatchObject({ same: { approve: 1 }, alike: { approve: 1 } });
});

test('an unknown approval is 404', async () => {
  await expect(api.client.getApprovalContext('apr_x')).rejects.toMatchObject({ code: 'approval_not_found' });
});
