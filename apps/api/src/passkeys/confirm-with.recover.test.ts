import { callerLimitsFrom, openCallers } from '@holdpoint/callers';
import type { Approval } from '@holdpoint/contract/wire';
import { openEngine } from '@holdpoint/engine';
import { Died, dyingAt, readLog } from '@holdpoint/engine/testing';
import type { WorkerDeps } from '@holdpoint/engine/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDeps } from '../deps.ts';
import { type PasskeyPage, pageWithPasskey, signedBy } from '../testing/passkey-page.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { type TestWorker, testWorker } from '../testing/test-worker.ts';
import { confirmWith } from './confirm-with.ts';

let api: TestApi;
let worker: TestWorker;
let page: PasskeyPage;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  page = await pageWithPasskey(api, api.key, 'admin');
});
afterAll(() => api.stop());

async function held(): Promise<Approval> {
  const { run } = await api.client.createRun({
    plan: { groups: [{ steps: [{ tool: 'write_file', args: { path: 'a.txt', content: 'a' } }] }] },
    policy: { rules: [{ match: {}, action: 'hold', confirm: 'passkey' }] },
  });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  if (approval === undefined) throw new Error('nothing is held');
  return approval;
}

/** The callers of a process that dies together with its engine. */
async function callersThrough(redis: () => WorkerDeps['redis']) {
  const forwarding = new Proxy(api.engine.redis, {
    get(_, name) {
      const value: unknown = Reflect.get(redis(), name);
      return typeof value === 'function' ? value.bind(redis()) : value;
    },
  });
  const limits = callerLimitsFrom({});
  return openCallers({ redis: forwarding, now: Date.now, newId: () => 'key_none', firstKey: api.key, limits });
}

test.each(['before', 'after'] as const)(
  'an API that dies %s any command between signature and decision decides with its proof or not at all',
  async (when) => {
    let redis = api.engine.redis;
    const callers = await callersThrough(() => redis);
    const { holder } = await callers.check(api.key);
    let commands = 0;
    for (let hasDied = true; hasDied; ) {
      commands += 1;
      const approval = await held();
      const request = { decision: 'approve' as const, action_digest: approval.action_digest };
      const { assertion } = await signedBy(page, approval.id, request);
      const dying = dyingAt(api.engine as WorkerDeps, commands, when);
      redis = dying.deps.redis;
      const engine = openEngine(dying.deps).as(holder.caller);
      const confirm = confirmWith({ callers, holder } as ApiDeps, assertion);
      const sent = await engine.approvals.decide(approval.id, { ...request, confirm }).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      redis = api.engine.redis;
      hasDied = dying.died();
      const now = await api.client.getApproval(approval.id);
      if (sent !== undefined) expect([commands, now.status]).toEqual([commands, 'approved']);
      expect(now.decision === null || now.decision.confirmed, `died at command ${commands}`).toBe(true);
      // The page sends it once more, and asks the passkey again where the challenge was used up.
      const path = `/v1/approvals/${approval.id}/decision`;
      const again = await page.post(path, { ...request, assertion });
      if (again.status !== 200) {
        expect([commands, again.status, now.status]).toEqual([commands, 403, 'pending']);
        const second = await signedBy(page, approval.id, request);
        expect((await page.post(path, { ...request, assertion: second.assertion })).status).toBe(200);
      }
      const decided = (await readLog(api.engine.redis, approval.run_id)).filter(
        ({ type }) => type === 'approval.decided',
      );
      expect(decided).toMatchObject([{ data: { decision: 'approve', assertion: { person: 'admin' } } }]);
    }
    expect(commands).toBeGreaterThan(5);
  },
);
