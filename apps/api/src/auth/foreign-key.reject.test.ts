import { createECDH, randomUUIDv7 } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { allScopes, installationScopes, isHeldBy, type Scope } from '@holdpoint/contract';
import { runSchema } from '@holdpoint/contract/wire';
import { newId, openEvalStore } from '@holdpoint/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pageWithPasskey } from '../testing/passkey-page.ts';
import { contentOf, problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';
import { type TestWorker, testWorker } from '../testing/test-worker.ts';

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ operationId: z.string(), security: z.array(z.record(z.string(), z.array(z.string()))) }),
    ),
  ),
});
interface Operation {
  id: string;
  method: string;
  path: string;
  /** Undefined for a route that asks for no scope. */
  scope: Scope | undefined;
  isOpen: boolean;
}

let api: TestApi;
let worker: TestWorker;
let operations: Operation[];
/** Ids of the tenant `default`, by the collection in a path. */
let ids: Record<string, string>;
let foreignKey: string;
const idempotent = { 'idempotency-key': 'the same in every tenant' };
const plan = { groups: [{ steps: [{ tool: 'write_file', args: { path: 'a.txt', content: 'a' } }] }] };

beforeAll(async () => {
  api = await startTestApi({ allowAddresses: ['127.0.0.1/32'] });
  worker = testWorker(api.engine, api.dataDir);
  const document = documentSchema.parse(await (await api.send('/openapi.json')).json());
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: id, security }]) => {
      const scope = security[0]?.key?.[0] as Scope | undefined;
      return { id, method: method.toUpperCase(), path, scope, isOpen: security.length === 0 };
    }),
  );
  ids = await populate();
  const scopes = allScopes.filter((scope) => isHeldBy({ kind: 'person', tenant: 'acme' }, scope));
  const foreign = { name: 'eve', kind: 'person', tenant: 'acme', scopes, limits: unlimited } as const;
  foreignKey = (await api.client.createKey(foreign)).key;
});
afterAll(() => api.stop());

const unlimited = { requests_per_s: null, burst: null, streams: null };

/** A run that waits for an approval beside a background command, which has no end yet; a remembered rule; and a key. */
async function populate(): Promise<Record<string, string>> {
  const begin = { tool: 'bash', args: { command: 'true', run_in_background: true } };
  const other = { tool: 'write_file', args: { path: 'b.txt', content: 'b' } };
  const groups = [{ steps: [begin] }, { steps: [other] }, ...plan.groups];
  const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
  const { run } = await api.client.createRun(
    { plan: { groups }, policy },
    { idempotencyKey: 'the same in every tenant' },
  );
  await worker.drive(run.id);
  const [first] = (await api.client.listApprovals({})).data;
  await api.client.decideApproval(first?.id ?? '', {
    ...{ decision: 'approve', action_digest: first?.action_digest ?? '', remember: 'policy' },
  });
  await worker.drive(run.id);
  const [rule] = (await api.client.listRules()).data;
  const [step] = (await api.client.listSteps(run.id)).data;
  const [task] = await api.client.listTasks(run.id);
  const [approval] = (await api.client.listApprovals({})).data;
  const made = await api.client.createKey({ name: 'ann', kind: 'person', scopes: ['runs:read'] });
  await api.post('/v1/session', { key: api.key });
  const [session] = await api.client.listSessions();
  const push = await api.client.subscribeToPushes(pushSubscription);
  await pageWithPasskey(api, api.key, 'admin');
  const [passkey] = await api.client.listPasskeys();
  return {
    ...{ runs: run.id, steps: step?.id ?? '', tasks: task?.id ?? '', approvals: approval?.id ?? '', keys: made.id },
    rules: rule?.id ?? '',
    sessions: session?.id ?? '',
    'push-subscriptions': push.id,
    passkeys: passkey?.id ?? '',
    evals: await beginEval(),
    digest: approval?.action_digest ?? '',
  };
}

/** An evaluation that has ended. */
async function beginEval(): Promise<string> {
  const id = `eval_${randomUUIDv7()}`;
  const at = new Date().toISOString();
  const state = {
    ...{ id, tenant: 'default', name: 'a', models: ['openai/a'], budget: { max_steps: 1 }, parallel: 1 },
    ...{ created_at: at, ended_at: at, created_by: 'ann', key_id: 'key_1', originals: [], repeats: [] },
  };
  await openEvalStore(api.engine.redis).put({ after: undefined, state, wakeAt: undefined });
  return id;
}

function operation(id: string): Operation {
  const found = operations.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
}

const pushSubscription = {
  endpoint: 'http://127.0.0.1:9/push',
  keys: { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) },
};
const page = crypto.randomUUID();
const registration = {
  ...{ id: 'AAAA', type: 'public-key' },
  response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
};
const imagined = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };

/** What passes validation: a refusal must come from the caller, not from the request. */
const bodies: Record<string, () => unknown> = {
  createRun: () => ({ plan }),
  subscribeToPushes: () => pushSubscription,
  logIn: () => ({ key: 'hp_nothing' }),
  exchangeCode: () => ({ code: 'hpc_nothing' }),
  pollDeviceSignIn: () => ({ device: 'none' }),
  logOutByProvider: () => ({ logout_token: 'none' }),
  createKey: () => ({ name: `made by ${Math.random()}`, kind: 'person', scopes: ['runs:read'] }),
  decideApprovals: () => ({
    ...{ decision: 'approve', items: [{ approval_id: ids.approvals, action_digest: ids.digest }] },
  }),
  challengeDecision: () => ({ decision: 'approve', action_digest: ids.digest }),
  addPasskey: () => ({ name: 'a', registration }),
  permitPasskey: () => ({ person: 'ann' }),
  delegateApproval: () => ({ to: 'ann' }),
  lookAtApproval: () => ({ page }),
  confirmApprovalPattern: () => ({
    ...{ digest: ids.digest, rules: [{ match: {}, action: 'hold' }], since: '2020-01-01T00:00:00Z' },
  }),
  decideApproval: () => ({ decision: 'approve', action_digest: ids.digest }),
  forkRun: () => ({ from_step: 0 }),
  markRun: () => ({ mark: 'good' }),
  putEval: () => ({ name: 'a', runs: [ids.runs], budget: { max_steps: 1 }, models: ['openai/a'] }),
  replayPolicy: () => ({ since: '2020-01-01T00:00:00Z', policy: { rules: [] } }),
  checkPolicy: () => ({ text: 'rules: []' }),
  proposeRules: () => ({ since: '2020-01-01T00:00:00Z' }),
  putPolicy: () => ({ rules: [] }),
  putWebhook: () => ({ url: 'http://127.0.0.1:9/hook', events: ['run.*'] }),
  redeliverEvent: () => ({ run_id: ids.runs, seq: 1 }),
  putSchedule: () => ({ cron: '0 3 * * *', run: { plan } }),
  backfillSchedule: () => ({ from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z' }),
  testPolicy: () => ({ call: imagined, policy: { rules: [] } }),
  testNamedPolicy: () => ({ call: imagined }),
  sendCalls: () => ({ calls: [imagined] }),
  sendMessage: () => ({ text: 'hello' }),
  undoSteps: () => ({ to_step: 0, keep_external_effects: true }),
};
const queries: Record<string, string> = {
  ...{ readFile: '?path=a.txt', getConflict: '?path=a.txt', leaveApproval: `?page=${page}` },
};

function call({ id, method, path }: Operation, key: string, given: Record<string, string> = ids): Promise<Response> {
  const filled = path
    .replace('{name}', 'holdpoint')
    .replace('{tenant}', 'acme')
    .replace(/\{version\}|\{number\}/, '1')
    .replace(/\/([\w-]+)\/\{id\}/, (_, kind) => `/${kind}/${given[kind]}`);
  expect(filled).not.toMatch(/[{}]|undefined|\/$/);
  const body = method === 'POST' || method === 'PUT' ? JSON.stringify(bodies[id]?.() ?? {}) : undefined;
  const headers = { 'content-type': 'application/json', ...(method === 'POST' && idempotent) };
  return fetch(`${api.address}${filled}${queries[id] ?? ''}`, {
    ...{ method, body: body ?? null, headers: { ...headers, authorization: `Bearer ${key}` } },
  });
}

/** Everything that is stored: Redis, and the names, sizes and times of the files. */
async function stored(): Promise<unknown> {
  const files = await readdir(api.dataDir, { recursive: true, withFileTypes: true });
  const seen = files
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => !relative(api.dataDir, path).startsWith('redis'));
  const stats = await Promise.all(
    seen.sort().map(async (path) => [path, (await stat(path)).mtimeMs, (await stat(path)).size]),
  );
  return { redis: await contentOf(api.engine), stats };
}

test('every operation is asked as a whole request', async () => {
  const posted = operations.filter(({ method, path }) => method === 'POST' && !path.includes('/v1/runs/{id}/publish'));
  for (const one of posted) {
    const response = await call(one, foreignKey, { ...ids, ...unknownIds() });
    expect([one.id, response.status]).not.toEqual([one.id, 422]);
    await response.body?.cancel();
  }
});

const unknownIds = () => ({
  ...{
    runs: newId('run'),
    steps: newId('step'),
    tasks: newId('task'),
    approvals: newId('approval'),
    keys: newId('key'),
    rules: newId('rule'),
    evals: `eval_${randomUUIDv7()}`,
    sessions: `ses_${'0'.repeat(32)}`,
    'push-subscriptions': `psh_${'0'.repeat(32)}`,
    passkeys: `psk_${'0'.repeat(32)}`,
  },
});

describe("with a foreign tenant's key", () => {
  test('every id has the 404 of an unknown id, and nothing changes', async () => {
    const before = await stored();
    const withId = operations.filter(({ path }) => path.includes('{id}'));
    expect(withId.length).toBeGreaterThan(25);
    for (const one of withId) {
      const unknown = unknownIds();
      const [foreign, none] = [await call(one, foreignKey), await call(one, foreignKey, unknown)];
      expect([one.id, foreign.status]).toEqual([one.id, 404]);
      const kind = /\/v1\/([\w-]+)/.exec(one.path)?.[1] as keyof typeof unknown;
      const plain = async (response: Response, id: string) => {
        const { request_id: _, ...problem } = await problemOf(response);
        return JSON.stringify(problem).replaceAll(id, 'ID');
      };
      expect(await plain(foreign, ids[kind] ?? '')).toBe(await plain(none, unknown[kind]));
      expect([...foreign.headers.keys()].sort()).toEqual([...none.headers.keys()].sort());
    }
    expect(await stored()).toEqual(before);
  });

  test('every list is empty of what belongs to another tenant', async () => {
    const secrets = Object.values(ids).concat('"ann"');
    const lists = operations.filter(({ path, method, isOpen, id }) => {
      return method === 'GET' && !path.includes('{') && !isOpen && id !== 'followRuns';
    });
    for (const one of lists) {
      const response = await call(one, foreignKey);
      expect([one.id, response.status]).toEqual([one.id, installationScopes.has(one.scope as Scope) ? 403 : 200]);
      const text = await response.text();
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
    const cursor = await fetch(`${api.address}/v1/runs?cursor=${newId('run')}`, {
      headers: { authorization: `Bearer ${foreignKey}` },
    });
    expect(await cursor.json()).not.toMatchObject({ data: [expect.objectContaining({ id: ids.runs })] });
    for (const query of [`approvals?run_id=${ids.runs}`, 'keys?tenant=default']) {
      const response = await fetch(`${api.address}/v1/${query}`, {
        headers: { authorization: `Bearer ${foreignKey}` },
      });
      expect(await response.text()).not.toContain(ids.approvals);
    }
  });

  test('an Idempotency-Key of another tenant meets no run of it', async () => {
    const answer = runSchema.parse(await (await call(operation('createRun'), foreignKey)).json());
    expect(answer).toMatchObject({ tenant: 'acme', created_by: 'eve' });
    expect(answer.id).not.toBe(ids.runs);
    const { data } = await api.client.listRuns();
    expect(data.map(({ id }) => id)).toEqual([ids.runs]);
    await worker.drive(answer.id);
    await expect(api.client.getRun(answer.id)).rejects.toMatchObject({ status: 404, code: 'run_not_found' });
  });
});

describe('without the scope that it declares', () => {
  test.each(allScopes)(
    'every operation with the scope %s answers 403 with the way to get the scope, and nothing changes',
    async (scope) => {
      const scopes = allScopes.filter((one) => one !== scope);
      const { key } = await api.client.createKey({
        name: `all but ${scope.replace(':', '-')}`,
        kind: 'person',
        scopes,
        limits: unlimited,
      });
      const before = await stored();
      for (const one of operations.filter((one) => one.scope === scope)) {
        const problem = await problemOf(await call(one, key));
        expect(problem).toMatchObject({ status: 403, code: 'missing_scope', detail: expect.stringContaining(scope) });
        expect(problem.next).toContain(`--scope ${scope}`);
      }
      expect(await stored()).toEqual(before);
    },
  );

  test('an agent is never one that decides', async () => {
    const agent = { name: 'a bot', kind: 'agent', scopes: ['runs:read', 'approvals:read'] } as const;
    const { key, id } = await api.client.createKey({ ...agent, scopes: [...agent.scopes] });
    const record = `hp:{keys}:key:${id}`;
    const kept = JSON.parse((await api.engine.redis.hget(record, 'record')) ?? '');
    await api.engine.redis.hset(record, 'record', JSON.stringify({ ...kept, scopes: [...allScopes] }));
    const problem = await problemOf(await call(operation('decideApproval'), key));
    expect(problem).toMatchObject({ status: 403, code: 'missing_scope', next: expect.stringContaining('person') });
  });
});

test('without any key every operation but the probes is a 401', async () => {
  const before = await stored();
  const closed = operations.filter(({ isOpen }) => !isOpen);
  for (const one of closed) {
    const response = await call(one, 'hp_nothing');
    expect([one.id, response.status]).toEqual([one.id, 401]);
    await response.body?.cancel();
  }
  expect(await stored()).toEqual(before);
});
