import type { Approval } from '@holdpoint/contract/wire';
import { openEngine } from '@holdpoint/engine';
import { readLog } from '@holdpoint/engine/testing';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';
import { checkEdit } from './decide.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const hold = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const, reason: 'a person looks at files' }] };
const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'text' } });

/** A run that waits for a decision on its first file. */
async function heldRun(policy: object = hold): Promise<{ runId: string; approval: Approval }> {
  const { run } = await api.client.createRun({ plan: { groups: [{ steps: [write('a.txt')] }] }, policy });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  if (!approval) throw new Error('nothing is held');
  return { runId: run.id, approval };
}

const typesOf = async (runId: string) => (await readLog(api.engine.redis, runId)).map(({ type }) => type);

describe('an approval', () => {
  test('shows the whole action, its digest, why it is held and what may be decided', async () => {
    const { runId, approval } = await heldRun();
    expect(approval).toMatchObject({
      run_id: runId,
      kind: 'action',
      status: 'pending',
      action: {
        toolset: 'holdpoint',
        tool: 'write_file',
        args: { path: 'a.txt', content: 'text' },
        effect: 'workspace',
      },
      action_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      preview: { kind: 'command', command: 'write_file' },
      reason: 'a person looks at files',
      allowed_decisions: ['approve', 'edit', 'reject', 'respond'],
      decision: null,
    });
    expect(Date.parse(approval.expires_at)).toBeGreaterThan(Date.parse(approval.requested_at));
    expect(await api.client.getApproval(approval.id)).toEqual({ ...approval, remembered: [] });
  });

  test('is in the list until it is decided; then in that of its run', async () => {
    const { runId, approval } = await heldRun();
    const pending = async () => (await api.client.listApprovals({ limit: 200 })).data.map(({ id }) => id);
    expect(await pending()).toContain(approval.id);
    await api.client.decideApproval(approval.id, { decision: 'reject', action_digest: approval.action_digest });
    expect(await pending()).not.toContain(approval.id);
    expect((await api.client.listApprovals({ run_id: runId })).data).toEqual([]);
    expect((await api.client.listApprovals({ run_id: runId, status: ['rejected'] })).data).toMatchObject([
      { id: approval.id, status: 'rejected', decision: { decision: 'reject', by: 'admin' } },
    ]);
  });

  test('list goes page by page', async () => {
    const made = [await heldRun(), await heldRun(), await heldRun()].map(({ approval }) => approval.id).reverse();
    const first = await api.client.listApprovals({ limit: 2 });
    const second = await api.client.listApprovals({ limit: 2, cursor: first.next_cursor ?? 'none' });
    expect(first.has_more).toBe(true);
    expect([...first.data, ...second.data].map(({ id }) => id).slice(0, 3)).toEqual(made);
  });

  test('that is decided is found among all runs by its decider and its time, and is counted', async () => {
    const [one, other] = [await heldRun(), await heldRun()];
    const { action_digest } = one.approval;
    const before = await api.client.countApprovals({ run_id: one.runId });
    expect(before).toMatchObject({ total: 1, by_status: { pending: 1, approved: 0 }, at_least: [] });
    await api.client.decideApproval(one.approval.id, { decision: 'approve', action_digest });
    const found = async (query: Parameters<typeof api.client.listApprovals>[0]) =>
      (await api.client.listApprovals({ limit: 200, ...query })).data.map(({ id }) => id);
    const decided_after = new Date(Date.now() - 60_000).toISOString();
    for (const query of [{ status: ['approved'] as const }, { by: 'admin' }, { decided_after }]) {
      expect(await found(query)).toContain(one.approval.id);
      expect(await found(query)).not.toContain(other.approval.id);
    }
    expect(await found({ by: 'zoe' })).toEqual([]);
    expect(await found({ by: 'admin', decided_before: decided_after })).not.toContain(one.approval.id);
    const after = await api.client.countApprovals({ run_id: one.runId, by: 'admin' });
    expect(after).toMatchObject({ total: 1, by_status: { pending: 0, approved: 1 } });
  });

  test('list by urgency goes page by page, and its cursor belongs to its order', async () => {
    const made = [await heldRun(), await heldRun(), await heldRun()].map(({ approval }) => approval.id);
    const ids: string[] = [];
    let last: string | undefined;
    for (let cursor: string | undefined; ; ) {
      const page = await api.client.listApprovals({ order: 'expires_first', limit: 2, cursor });
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
      last = cursor;
    }
    expect(ids.filter((id) => made.includes(id))).toEqual(made);
    expect(new Set(ids).size).toBe(ids.length);
    const refusals = {
      [`/v1/approvals?cursor=${last}`]: 'cursor',
      [`/v1/approvals?order=expires_first&cursor=${made[0]}`]: 'cursor',
      '/v1/approvals?order=expires_first&status=approved': 'order',
      '/v1/approvals?order=expires_first&by=admin': 'order',
      '/v1/approvals?status=open': 'status.0',
      '/v1/approvals?decided_after=yesterday': 'decided_after',
    };
    for (const [path, pointer] of Object.entries(refusals)) {
      const problem = await problemOf(await api.send(path));
      expect(problem).toMatchObject({ code: 'invalid_request', status: 422, errors: [{ pointer }] });
    }
  });

  test.each(['apr_00000000-0000-7000-8000-000000000000', 'nonsense', 'run_x%7D'])('%s is not there', async (id) => {
    expect(await problemOf(await api.send(`/v1/approvals/${id}`))).toMatchObject({
      code: 'approval_not_found',
      status: 404,
    });
    const decision = { decision: 'approve', action_digest: 'x' };
    expect(await problemOf(await api.post(`/v1/approvals/${id}/decision`, decision))).toMatchObject({ status: 404 });
  });
});

describe('a decision', () => {
  test('to approve lets the step run', async () => {
    const { runId, approval } = await heldRun();
    const decided = await api.client.decideApproval(approval.id, {
      decision: 'approve',
      action_digest: approval.action_digest,
      message: 'fine',
    });
    expect(decided).toMatchObject({ status: 'approved', decision: { message: 'fine', by: 'admin' } });
    await worker.drive(runId);
    expect((await api.client.getRun(runId)).status).toBe('succeeded');
  });

  test('to edit runs the other arguments, with their defaults', async () => {
    const { runId, approval } = await heldRun();
    await api.client.decideApproval(approval.id, {
      decision: 'edit',
      action_digest: approval.action_digest,
      args: { path: 'b.txt', content: 'other' },
    });
    await worker.drive(runId);
    const [step] = (await api.client.listSteps(runId)).data;
    expect(step?.args).toEqual({ json: { path: 'b.txt', content: 'other', create_only: false } });
    expect((await api.client.diff(runId)).files.map(({ path }) => path)).toEqual(['b.txt']);
  });

  test('again is answered as the first was, and changes nothing', async () => {
    const { approval } = await heldRun();
    const decision = { decision: 'approve', action_digest: approval.action_digest } as const;
    const first = await api.client.decideApproval(approval.id, decision);
    const before = await contentOf(api.engine);
    expect(await api.client.decideApproval(approval.id, decision)).toEqual(first);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('of many at once: one wins', async () => {
    const { runId, approval } = await heldRun();
    const answers = await Promise.all(
      (['approve', 'reject', 'approve', 'reject', 'approve', 'reject'] as const).map((decision) =>
        api.post(`/v1/approvals/${approval.id}/decision`, { decision, action_digest: approval.action_digest }),
      ),
    );
    const winner = (await api.client.getApproval(approval.id)).decision?.decision;
    answers.forEach((answer, at) => {
      expect(answer.status).toBe((at % 2 === 0 ? 'approve' : 'reject') === winner ? 200 : 409);
    });
    expect((await typesOf(runId)).filter((type) => type === 'approval.decided')).toHaveLength(1);
  });
});

test.each([
  ['that do not fit the schema', { path: 7 }, 'EINVALIDARGS'],
  ['that a policy denies', { path: 'secret.txt', content: 'text' }, 'EPERMISSION'],
])('a call settles with its reason when a person writes arguments %s and says so', async (_name, args, code) => {
  const deny = { match: { paths: ['secret.txt'] }, action: 'deny' };
  const { runId, approval } = await heldRun({ rules: [deny, ...hold.rules] });
  const edit = { decision: 'edit', action_digest: approval.action_digest, args } as const;
  expect(await problemOf(await api.post(`/v1/approvals/${approval.id}/decision`, edit))).toMatchObject({ status: 422 });
  expect((await api.client.getApproval(approval.id)).status).toBe('pending');
  await api.client.decideApproval(approval.id, { ...edit, on_invalid: 'reject' });
  const [step] = (await api.client.listSteps(runId)).data;
  expect(step).toMatchObject({ status: 'rejected', error: { code } });
  expect(await typesOf(runId)).not.toContain('step.started');
});

test('an edit is described once, with the network of its run, by the API and by the engine', async () => {
  const { run } = await api.client.createRun({
    plan: { groups: [{ steps: [write('a.txt')] }] },
    policy: hold,
    network: { allow: ['example.org'] },
  });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  const { id, action_digest } = approval ?? { id: '', action_digest: '' };
  const described: object[] = [];
  const { catalog } = api.engine;
  const recording = {
    ...catalog,
    describe: (call: Parameters<typeof catalog.describe>[0]) => {
      described.push(call);
      return createRegistry(everyToolset).describe(call);
    },
  };
  const edit = { decision: 'edit', action_digest, args: { path: 'b.txt', content: 'other' } } as const;
  const engine = openEngine({ ...api.engine, catalog: recording }).as({
    name: 'ann',
    kind: 'person',
    tenant: 'default',
  });
  await checkEdit({ engine }, id, edit);
  await engine.approvals.decide(id, edit);
  const surroundings = { network: true, unattended: false, settings: { editing: 'auto' } };
  const call = { toolset: 'holdpoint', tool: 'write_file', args: edit.args, ...surroundings };
  expect(described).toEqual([call, call]);
});

describe('a decision is refused, and nothing is decided,', () => {
  const cases: [string, (approval: Approval) => object, number, string, string?][] = [
    ['of another kind than those allowed', () => ({ decision: 'maybe' }), 422, 'invalid_request', '/decision'],
    ['without a digest', () => ({ action_digest: undefined }), 422, 'invalid_request', '/action_digest'],
    ['for another digest', () => ({ action_digest: `sha256:${'0'.repeat(64)}` }), 409, 'action_changed'],
    ['to edit without arguments', () => ({ decision: 'edit' }), 422, 'invalid_decision'],
    ['to approve with arguments', () => ({ args: {} }), 422, 'invalid_decision'],
    ['to respond without words', () => ({ decision: 'respond' }), 422, 'invalid_decision'],
    ['to respond with no words', () => ({ decision: 'respond', message: '' }), 422, 'invalid_decision'],
    ['to respond with blanks', () => ({ decision: 'respond', message: ' \n' }), 422, 'invalid_decision'],
    [
      'to edit to arguments the tool does not take',
      () => ({ decision: 'edit', args: { path: 1, content: 'x', more: true } }),
      422,
      'invalid_request',
      '/args/path',
    ],
    ['with an unknown field', () => ({ reminder: 'run' }), 422, 'invalid_request', '/reminder'],
    ['to remember for ever', () => ({ remember: 'run', remember_s: 10 ** 9 }), 422, 'invalid_request', '/remember_s'],
    ['to answer and remember', () => ({ decision: 'respond', message: 'a', remember: 'run' }), 422, 'invalid_decision'],
  ];

  test.each(cases)('%s', async (_name, change, status, code, pointer) => {
    const { approval } = await heldRun();
    const before = await contentOf(api.engine);
    const body = { decision: 'approve', action_digest: approval.action_digest, ...change(approval) };
    const problem = await problemOf(await api.post(`/v1/approvals/${approval.id}/decision`, body));
    expect(problem).toMatchObject({ status, code });
    if (pointer !== undefined) expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('when another one stands', async () => {
    const { approval } = await heldRun();
    const { action_digest } = approval;
    await api.client.decideApproval(approval.id, { decision: 'reject', action_digest });
    const before = await contentOf(api.engine);
    await expect(api.client.decideApproval(approval.id, { decision: 'approve', action_digest })).rejects.toMatchObject({
      code: 'already_decided',
      status: 409,
    });
    const edit = { decision: 'edit', action_digest, args: { wrong: 1 } } as const;
    await expect(api.client.decideApproval(approval.id, edit)).rejects.toMatchObject({ code: 'already_decided' });
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('when the run is canceled', async () => {
    const { runId, approval } = await heldRun();
    await api.client.cancelRun(runId);
    await expect(
      api.client.decideApproval(approval.id, { decision: 'approve', action_digest: approval.action_digest }),
    ).rejects.toMatchObject({ code: 'run_not_active', status: 409 });
    await worker.plan(runId);
    expect((await api.client.getApproval(approval.id)).status).toBe('canceled');
  });
});
