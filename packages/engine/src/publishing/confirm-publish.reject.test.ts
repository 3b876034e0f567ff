import type { Json, RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { decisionToConfirm, type PublishApproval } from '../approvals/index.ts';
import { requestPublication, submitRun } from '../commands/index.ts';
import type { EngineDeps } from '../deps.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import type { Faults } from '../testing/faults.ts';
import { inForce } from '../testing/in-force.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { proveWith, testSite } from '../testing/prove-with.ts';
import { soundLog } from '../testing/sound-log.ts';
import { createTestPasskey } from '../testing/test-passkey.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();
const passkey = createTestPasskey(testSite);
const confirm = proveWith(passkey);
const required = { code: 'passkey_required', message: expect.stringContaining('holds the publish') };
const refused = { code: 'passkey_refused' };
const groups = [[{ name: 'a', args: { effect: 'workspace' } }]];

async function held(policy: Partial<RunSpec['policy']> = { publish: 'passkey' }, faults: Faults = {}) {
  const worker = inMemoryWorker(engine, faults);
  const spec = specOf(groups, { policy });
  const { runId } = await submitRun(worker.deps, { spec, by: 'eve', kind: 'person' });
  await deliverAll(worker.deps);
  await requestPublication(worker.deps, runId, { by: 'eve', message: 'm' });
  await deliverAll(worker.deps);
  return { ...worker, runId, view: await pendingIn(worker.deps, runId) };
}

async function pendingIn(deps: EngineDeps, runId: string): Promise<PublishApproval> {
  const [view] = await pendingApprovals(deps, runId);
  if (view?.subject !== 'publication') throw new Error('no publish is held');
  return view;
}

const publicationOf = async (runId: string) => (await listSteps(engine.deps, runId)).run.publication;

test('a publish is approved by a passkey alone, and rejected without one', async () => {
  const { deps, runId, view, published } = await held();
  expect(view.approval.request).toMatchObject({ kind: 'publish', confirm: 'passkey' });
  await expect(decideOn(deps, view)).rejects.toMatchObject(required);
  await deliverAll(deps);
  expect(published).toEqual([]);
  await decideOn(deps, view, { confirm });
  await deliverAll(deps);
  expect(published).toHaveLength(1);
  await soundLog(deps, runId);
  const other = await held();
  await decideOn(deps, other.view, { decision: 'reject' });
  await deliverAll(deps);
  expect(await publicationOf(other.runId)).toBe('rejected');
});

test('a signature for another publish, decision or caller publishes nothing', async () => {
  const { deps, view, published } = await held();
  const wrong = {
    'another approval': { approval_id: 'apr_other' },
    'another plan': { action_digest: 'sha256:00' },
    'another decision': { decision: 'edit' },
    'another caller': { by: 'bob' },
    'chosen versions': { args: 'sha256:00' },
  } as const;
  for (const [what, signed] of Object.entries(wrong)) {
    await expect(decideOn(deps, view, { confirm: proveWith(passkey, { signed }) }), what).rejects.toMatchObject(
      refused,
    );
  }
  await deliverAll(deps);
  expect(published).toEqual([]);
});

test('the versions of a conflict are chosen by passkey, signed with the choice, and so is the publish that follows', async () => {
  const { deps, runId, view, published } = await held(undefined, { conflict: true });
  expect(view.approval.request).toMatchObject({ kind: 'conflict', confirm: 'passkey' });
  const chosen = (take: string): Record<string, Json> => ({ resolutions: [{ path: 'a', take, seen: null }] });
  const edit = { decision: 'edit' as const, args: chosen('run') };
  await expect(decideOn(deps, view, edit)).rejects.toMatchObject(required);
  await expect(decideOn(deps, view)).rejects.toMatchObject(required);
  const swapped = { ...edit, args: chosen('source'), by: 'ann', action_digest: view.digest };
  const signed = await decisionToConfirm(deps, view.approval.id, swapped);
  const forSource = proveWith(passkey, { signed });
  await expect(decideOn(deps, view, { ...edit, confirm: forSource })).rejects.toMatchObject(refused);
  await decideOn(deps, view, { ...edit, confirm });
  await deliverAll(deps);
  expect(published).toEqual([]);
  const planned = await pendingIn(deps, runId);
  expect(planned.approval.request).toMatchObject({ kind: 'publish', confirm: 'passkey' });
  await expect(decideOn(deps, planned)).rejects.toMatchObject(required);
  await decideOn(deps, planned, { confirm });
  await deliverAll(deps);
  expect(published).toHaveLength(1);
});

test('an approval without a passkey publishes nothing once the operator asks for one', async () => {
  const { deps, runId, view, published } = await held({ publish: 'hold' });
  expect(view.approval.request.confirm).toBeUndefined();
  await decideOn(deps, view);
  const stricter = { ...deps, operatorPolicy: () => inForce({ rules: [], publish: 'passkey' }) };
  await deliverAll(stricter);
  expect([published, await publicationOf(runId)]).toEqual([[], 'parked']);
  const again = await pendingIn(deps, runId);
  expect(again.approval.request.confirm).toBe('passkey');
  await decideOn(stricter, again, { confirm });
  await deliverAll(stricter);
  expect(published).toHaveLength(1);
  await soundLog(deps, runId);
});
