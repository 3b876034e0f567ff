import { expect, test } from 'vitest';
import { forkRun, submitRun } from '../commands/index.ts';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import { askAgain, type Transition } from '../domain/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import type { Faults } from '../testing/faults.ts';
import { inForce } from '../testing/in-force.ts';
import { Died, deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { proveWith, testSite } from '../testing/prove-with.ts';
import { soundLog } from '../testing/sound-log.ts';
import { createTestPasskey } from '../testing/test-passkey.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { decisionToConfirm } from './decide-approval.ts';
import { delegateApproval } from './delegate-approval.ts';
import { requestResult } from './request-preview.ts';
import { type StepApproval, viewApproval } from './view-approval.ts';

const engine = useTestEngine({ fresh: true });

const passkey = createTestPasskey(testSite);
const confirm = proveWith(passkey);
const write = { name: 'a', args: { effect: 'workspace' } };
const rule = { match: {}, action: 'hold', confirm: 'passkey' };
const refused = { code: 'passkey_refused' };
const required = { code: 'passkey_required' };

async function held(rules: object[] = [rule], { step = write as object, faults = {} as Faults } = {}) {
  const worker = inMemoryWorker(engine, faults);
  const spec = specOf([[step as never]], { policy: { rules } });
  const { runId } = await submitRun(worker.deps, { spec, by: 'eve', kind: 'person' });
  await deliverAll(worker.deps);
  return { ...worker, runId, spec, view: await pendingIn(worker.deps, runId) };
}

async function pendingIn(deps: EngineDeps, runId: string): Promise<StepApproval> {
  const [view] = await pendingApprovals(deps, runId);
  if (view?.subject !== 'step') throw new Error('nothing is held');
  return view;
}

const stepOf = async (runId: string) => (await listSteps(engine.deps, runId)).steps[0];
const statusOf = async (deps: WorkerDeps, runId: string) => {
  await deliverAll(deps);
  return (await stepOf(runId))?.status;
};

test('approve, edit and respond need a passkey, and a rejection does not', async () => {
  const { deps, view, runId } = await held();
  expect(view.approval.request.confirm).toBe('passkey');
  const args = { effect: 'workspace', other: 1 };
  for (const request of [{}, { decision: 'edit' as const, args }, { decision: 'respond' as const, message: 'no' }]) {
    await expect(decideOn(deps, view, request)).rejects.toMatchObject(required);
  }
  await decideOn(deps, view, { confirm });
  expect(await statusOf(deps, runId)).toBe('succeeded');
  await soundLog(deps, runId);
  const other = await held();
  await decideOn(deps, other.view, { decision: 'reject' });
  expect(await statusOf(deps, other.runId)).toBe('rejected');
});

test('the same decision again gets the first answer without a second passkey', async () => {
  const { deps, view } = await held();
  await decideOn(deps, view, { confirm });
  const again = await decideOn(deps, view, { confirm: () => Promise.reject(new Error('asked again')) });
  expect(again.approval.status).toBe('approved');
});

test('a signature for anything else proves nothing, and the approval stays open', async () => {
  const { deps, view, executions } = await held();
  const other = createTestPasskey(testSite);
  const wrong = {
    'another approval': proveWith(passkey, { signed: { approval_id: 'apr_other' } }),
    'another call': proveWith(passkey, { signed: { action_digest: 'sha256:00' } }),
    'another decision': proveWith(passkey, { signed: { decision: 'respond' } }),
    'another caller': proveWith(passkey, { signed: { by: 'bob' } }),
    'another tenant': proveWith(passkey, { signed: { tenant: 'other' } }),
    'another message': proveWith(passkey, { signed: { message: 'sha256:00' } }),
    'other arguments': proveWith(passkey, { signed: { args: 'sha256:00' } }),
    'another person': proveWith(passkey, { sent: { person: 'bob' } }),
    'another nonce': proveWith(passkey, { sent: { nonce: 'AAAA' } }),
    'another passkey': proveWith(passkey, { sent: { public_key: other.publicKey } }),
    'another origin': proveWith(passkey, { signing: { origin: 'http://localhost:1' } }),
    'another server': proveWith(passkey, { signing: { rpId: 'example.org' } }),
    'an embedded page': proveWith(passkey, { signing: { clientData: { crossOrigin: true } } }),
    'a registration': proveWith(passkey, { signing: { clientData: { type: 'webauthn.create' } } }),
    'no verification': proveWith(passkey, { signing: { flags: 0x01 } }),
    'no presence': proveWith(passkey, { signing: { flags: 0x04 } }),
  };
  for (const [what, confirmed] of Object.entries(wrong)) {
    await expect(decideOn(deps, view, { confirm: confirmed }), what).rejects.toMatchObject(refused);
  }
  await deliverAll(deps);
  expect((await viewApproval(deps, view.approval.id)).approval.status).toBe('pending');
  expect(executions).toEqual([]);
});

test('each vote of a quorum has a passkey of its own', async () => {
  const { deps, view, runId } = await held([{ ...rule, deciders: { quorum: 2 } }]);
  await expect(decideOn(deps, view, { by: 'ann' })).rejects.toMatchObject(required);
  await decideOn(deps, view, { by: 'ann', confirm });
  await expect(decideOn(deps, view, { by: 'bob' })).rejects.toMatchObject(required);
  await decideOn(deps, view, { by: 'ann' });
  expect(await statusOf(deps, runId)).toBe('parked');
  await decideOn(deps, view, { by: 'bob', confirm: proveWith(createTestPasskey(testSite)) });
  const { approval } = await viewApproval(deps, view.approval.id);
  expect(approval.decision?.votes).toMatchObject([
    { by: 'ann', assertion: { person: 'ann' } },
    { by: 'bob', assertion: { person: 'bob' } },
  ]);
  expect(await statusOf(deps, runId)).toBe('succeeded');
  await soundLog(deps, runId);
});

test('a delegate needs a passkey, too', async () => {
  const { deps, view } = await held([{ ...rule, deciders: { names: ['ann'] } }]);
  const [from, to] = [
    { name: 'ann', kind: 'person' },
    { name: 'bob', kind: 'person' },
  ] as const;
  await delegateApproval(deps, view.approval.id, { from, to });
  await expect(decideOn(deps, view, { by: 'bob' })).rejects.toMatchObject(required);
  await decideOn(deps, view, { by: 'bob', confirm });
});

test('a remembered approval answers no call that needs a passkey, and none is made of it; a rejection is', async () => {
  const plain = await held([{ match: {}, action: 'hold' }]);
  const remember = { scope: 'policy' as const };
  const { deps, view, runId } = await held();
  await expect(decideOn(deps, view, { confirm, remember })).rejects.toMatchObject({ code: 'invalid_decision' });
  await decideOn(deps, plain.view, { remember });
  expect(await statusOf(deps, runId)).toBe('parked');
  const later = await held();
  expect((await stepOf(later.runId))?.status).toBe('parked');
  const without = await submitRun(deps, { spec: plain.spec, by: 'eve', kind: 'person' });
  expect(await statusOf(deps, without.runId)).toBe('succeeded');
  await decideOn(deps, view, { decision: 'reject', remember });
  const again = await submitRun(deps, { spec: later.spec, by: 'eve', kind: 'person' });
  expect(await statusOf(deps, again.runId)).toBe('rejected');
});

test('at the deadline nothing runs, whatever another rule says', async () => {
  const allowing = { match: {}, action: 'hold', on_expiry: 'allow', expires_s: 30 };
  for (const rules of [[{ ...allowing, confirm: 'passkey' }], [allowing]]) {
    const { deps, runId, view } = await held(rules);
    const late = {
      ...deps,
      now: () => Date.now() + 31_000,
      operatorPolicy: () => inForce({ rules: [{ ...rule, action: 'hold', confirm: 'passkey' }] }),
    };
    const tooLate = { code: 'already_decided' };
    await expect(decisionToConfirm(late, view.approval.id, { ...asShown(view), by: 'ann' })).rejects.toMatchObject(
      tooLate,
    );
    await expect(decideOn(late, view, { confirm })).rejects.toMatchObject(tooLate);
    expect([rules, await statusOf(late, runId)]).toEqual([rules, 'expired']);
  }
});

const asShown = ({ digest }: StepApproval) => ({ decision: 'approve' as const, action_digest: digest });

test('a call that a passkey did not release asks again once the policy wants one', async () => {
  const { deps, runId, view } = await held([{ match: {}, action: 'hold' }]);
  await decideOn(deps, view);
  const stricter = {
    ...deps,
    operatorPolicy: () => inForce({ rules: [{ match: {}, action: 'hold', confirm: 'passkey' }] }),
  };
  expect(await statusOf(stricter, runId)).toBe('parked');
  const again = await pendingIn(deps, runId);
  expect(again.approval.request.confirm).toBe('passkey');
  await expect(decideOn(stricter, again)).rejects.toMatchObject(required);
  await decideOn(stricter, again, { confirm });
  expect(await statusOf(stricter, runId)).toBe('succeeded');
});

test('an edit into a call that needs a passkey needs it', async () => {
  const rules = [
    { match: { args: { '/n': 2 } }, action: 'hold', confirm: 'passkey' },
    { match: {}, action: 'hold' },
  ];
  const { deps, runId, view } = await held(rules, { step: { args: { effect: 'workspace', n: 1 } } });
  expect(view.approval.request.confirm).toBeUndefined();
  const edit = { decision: 'edit' as const, args: { effect: 'workspace', n: 2 } };
  await expect(decideOn(deps, view, edit)).rejects.toMatchObject(required);
  const swapped = proveWith(passkey, { signed: { args: 'sha256:00' } });
  await expect(decideOn(deps, view, { ...edit, confirm: swapped })).rejects.toMatchObject(refused);
  await decideOn(deps, view, { ...edit, confirm });
  expect(await statusOf(deps, runId)).toBe('succeeded');
});

test('the approval with the result, the one after a change of the files, and a fork ask for it as well', async () => {
  const { deps, runId, view } = await held();
  await requestResult(deps, view.approval.id, { by: 'ann', kind: 'person' });
  await deliverAll(deps);
  const shown = await pendingIn(deps, runId);
  expect(shown.approval.request).toMatchObject({ replaces: { approval_id: view.approval.id }, confirm: 'passkey' });
  await expect(decideOn(deps, shown)).rejects.toMatchObject(required);
  const found = { snapshot: 'f'.repeat(40), files_changed: 1, skipped: 0, changes: [], total: 0 };
  const about = { approvalId: deps.newId('approval'), expiresAt: new Date().toISOString(), shown: {}, found };
  const again: Transition = askAgain(shown.run, shown.step, { decided: shown.approval, ...about });
  expect(again.events.find(({ type }) => type === 'approval.requested')?.data).toMatchObject({ confirm: 'passkey' });
  const fork = await forkRun(deps, runId, { fromStep: 0, changes: {}, by: 'mallory' });
  await deliverAll(deps);
  await expect(decideOn(deps, await pendingIn(deps, fork.runId))).rejects.toMatchObject(required);
});

test('an external call whose worker died runs again only by a passkey', async () => {
  let dies = true;
  const faults: Faults = {
    execute: () => {
      if (dies) throw new Died();
    },
  };
  const { deps, runId, view } = await held([rule], { step: { args: { effect: 'external' } }, faults });
  await decideOn(deps, view, { confirm });
  await deliverAll(deps);
  await sweepOnce(deps);
  dies = false;
  const unknown = await pendingIn(deps, runId);
  expect(unknown.approval.request).toMatchObject({ kind: 'indeterminate', confirm: 'passkey' });
  await expect(decideOn(deps, unknown)).rejects.toMatchObject(required);
  await expect(decideOn(deps, unknown, { decision: 'respond', message: 'it did' })).rejects.toMatchObject(required);
  await decideOn(deps, unknown, { confirm });
  expect(await statusOf(deps, runId)).toBe('succeeded');
});

test('the question of a challenge checks the decision, and takes nothing that needs no passkey', async () => {
  const { deps, view } = await held();
  const ask = (more: object) => decisionToConfirm(deps, view.approval.id, { ...asShown(view), by: 'ann', ...more });
  expect(await ask({ message: 'so' })).toMatchObject({
    ...{ tenant: 'default', by: 'ann', approval_id: view.approval.id, action_digest: view.digest },
    ...{ decision: 'approve', args: null, message: expect.stringMatching(/^sha256:/) },
  });
  await expect(ask({ action_digest: 'sha256:00' })).rejects.toMatchObject({ code: 'action_changed' });
  await expect(ask({ decision: 'reject' })).rejects.toMatchObject({ code: 'invalid_decision' });
  await expect(ask({ kind: 'agent' })).rejects.toMatchObject({ code: 'not_a_decider' });
});
