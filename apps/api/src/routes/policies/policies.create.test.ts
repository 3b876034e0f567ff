import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const hold = (tool: string) => ({ rules: [{ match: { tool }, action: 'hold' as const }] });
const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
const plan = { groups: [{ steps: [write] }] };
const put = (name: string, body: string, type = 'application/yaml') =>
  api.send(`/v1/policies/${name}`, { method: 'PUT', body, headers: { 'content-type': type } });

describe('a policy', () => {
  test('has a version per content, from YAML or JSON, and each stays', async () => {
    const first = await put('careful', 'rules:\n  - { match: { tool: edit }, action: hold }\n');
    expect([first.status, first.headers.get('location')]).toEqual([201, '/v1/policies/careful/versions/1']);
    const same = await api.client.putPolicy('careful', hold('edit'));
    expect([same.created, same.policy.version]).toEqual([false, 1]);
    const next = await api.client.putPolicy('careful', hold('bash'));
    expect(next).toMatchObject({ created: true, policy: { version: 2, by: 'admin', document: { publish: 'allow' } } });
    expect((await api.client.getPolicy('careful')).version).toBe(2);
    expect((await api.client.getPolicy('careful', { version: 1 })).document.rules).toMatchObject(hold('edit').rules);
    const { data } = await api.client.listPolicyVersions('careful');
    expect(data.map(({ version, rules }) => [version, rules])).toEqual([
      [2, 1],
      [1, 1],
    ]);
    expect((await api.client.listPolicies()).map(({ name, version }) => [name, version])).toEqual([['careful', 2]]);
  });

  test('changes only at the version that the caller saw', async () => {
    await api.client.putPolicy('seen', hold('edit'), { ifVersion: 0 });
    const again = api.client.putPolicy('seen', hold('bash'), { ifVersion: 0 });
    await expect(again).rejects.toMatchObject({ status: 409, code: 'policy_changed' });
    await api.client.putPolicy('seen', hold('bash'), { ifVersion: 1 });
    await expect(api.client.deletePolicy('seen', { ifVersion: 1 })).rejects.toMatchObject({ code: 'policy_changed' });
  });

  test('that is deleted is no more offered, and its versions stay', async () => {
    await api.client.putPolicy('brief', hold('edit'));
    expect(await api.client.deletePolicy('brief')).toMatchObject({ name: 'brief', version: 1 });
    await expect(api.client.getPolicy('brief')).rejects.toMatchObject({ status: 404, code: 'policy_not_found' });
    await expect(api.client.deletePolicy('brief')).rejects.toMatchObject({ status: 404 });
    expect((await api.client.getPolicy('brief', { version: 1 })).version).toBe(1);
    const unknown = await problemOf(await api.post('/v1/runs', { plan, policy: { name: 'brief' } }));
    expect(unknown).toMatchObject({ status: 422, code: 'unknown_policy', errors: [{ pointer: '/policy/name' }] });
    expect((await api.client.putPolicy('brief', hold('edit'))).policy.version).toBe(2);
  });

  test.for([
    ['no YAML', 'rules: [', '', 'line 1'],
    ['an alias of itself', 'rules: &a [*a, *a]', '', 'circular'],
    ['an unknown field', 'rules: [{ match: { tol: edit }, action: hold }]', '/rules/0/match/tol', 'Nearest: tool'],
    ['an unknown tool', 'rules: [{ match: { tool: edti }, action: hold }]', '/rules/0/match/tool', 'Nearest: edit'],
    [
      'an endless expression',
      "rules: [{ match: { command: { regex: '(?=a)' } }, action: deny }]",
      '/rules/0/match/command/regex',
      'regular',
    ],
    ['a list', '[]', '', 'object'],
  ])('%s is refused, and nothing changes', async ([, body = '', pointer, words]) => {
    const before = await contentOf(api.engine);
    const problem = await problemOf(await put('careful', body));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_policy', errors: [{ pointer }] });
    expect(problem.errors?.[0]?.detail).toContain(words);
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test.for(['Run', 'run', 'builtin', 'a b', '-a'])('has no name like %s', async (name) => {
    const problem = await problemOf(await put(encodeURIComponent(name), 'rules: []'));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_policy_name' });
  });

  test('no other route takes YAML', async () => {
    const response = await api.send('/v1/runs', {
      method: 'POST',
      body: 'a: 1',
      headers: { 'content-type': 'application/yaml' },
    });
    expect(await problemOf(response)).toMatchObject({ status: 415 });
  });

  test('of another tenant does not exist', async () => {
    await api.client.putPolicy('ours', hold('edit'));
    const { key } = await api.client.createKey({
      ...{ name: 'eve', kind: 'person', tenant: 'acme' },
      scopes: ['policies:read', 'policies:write', 'runs:write'],
    });
    const eve = createClient({ baseUrl: api.address, key });
    expect(await eve.listPolicies()).toEqual([]);
    const missing = (name: string) => `there is no policy "${name}". The tenant has none`;
    await expect(eve.getPolicy('ours', { version: 1 })).rejects.toMatchObject({ status: 404, detail: missing('ours') });
    await expect(eve.getPolicy('nope', { version: 1 })).rejects.toMatchObject({ status: 404, detail: missing('nope') });
    await expect(eve.createRun({ plan, policy: { name: 'ours' } })).rejects.toMatchObject({ code: 'unknown_policy' });
    expect((await eve.putPolicy('ours', hold('bash'))).policy.version).toBe(1);
    await expect(eve.putPolicy('operator', { rules: [] })).rejects.toMatchObject({
      status: 403,
      code: 'policy_not_allowed',
    });
    await expect(eve.deletePolicy('operator')).rejects.toMatchObject({ status: 403 });
    await eve.close();
  });

  test('is changed by no agent', async () => {
    const agent = { name: 'bot', kind: 'agent' as const, scopes: ['policies:write' as const] };
    await expect(api.client.createKey(agent)).rejects.toMatchObject({ code: 'invalid_key' });
  });
});

describe('a run', () => {
  test('keeps the version that it was accepted with, and its verdicts name it', async () => {
    await api.client.putPolicy('pinned', {
      rules: [{ match: { tool: 'write_file' }, action: 'hold', name: 'writes' }],
    });
    const { run } = await api.client.createRun({ plan, policy: { name: 'pinned' } });
    await api.client.putPolicy('pinned', { rules: [{ match: { tool: 'write_file' }, action: 'allow' }] });
    await worker.drive(run.id);
    const { request } = await api.client.getRun(run.id);
    expect(request.policy_pin).toMatchObject({ name: 'pinned', version: 1 });
    const [step] = (await api.client.listSteps(run.id)).data;
    expect(await api.client.getStep(step?.id ?? '')).toMatchObject({
      status: 'parked',
      verdict: { action: 'hold', rule: { policy: 'pinned', version: 1, name: 'writes' } },
    });
    const forks = await Promise.all([
      api.client.forkRun(run.id, { from_step: 0 }),
      api.client.forkRun(run.id, { from_step: 0, policy: { name: 'pinned' } }),
      api.client.forkRun(run.id, { from_step: 0, policy: hold('bash') }),
    ]);
    const pins = await Promise.all(
      forks.map(async (fork) => (await api.client.getRun(fork.run.id)).request.policy_pin?.version ?? null),
    );
    expect(pins).toEqual([1, 2, null]);
  });

  test('names a version that exists', async () => {
    await api.client.putPolicy('known', hold('edit'));
    for (const [policy, pointer] of [
      [{ name: 'knwon' }, '/policy/name'],
      [{ name: 'known', version: 9 }, '/policy/version'],
    ] as const) {
      const problem = await problemOf(await api.post('/v1/runs', { plan, policy }));
      expect(problem).toMatchObject({ status: 422, code: 'unknown_policy', errors: [{ pointer }] });
      expect(problem.detail).toContain('known');
    }
    const both = await problemOf(await api.post('/v1/runs', { plan, policy: { name: 'known', rules: [] } }));
    expect(both).toMatchObject({ status: 422, errors: [{ pointer: '/policy/name' }] });
  });
});

describe('a test', () => {
  test('says which rule decides and why the others do not', async () => {
    await api.client.putPolicy('tested', {
      rules: [
        { match: { paths: ['docs/**'] }, action: 'allow' },
        { match: { tool: 'write_file' }, action: 'hold' },
      ],
    });
    const explained = await api.client.testNamedPolicy('tested', { call: write });
    expect(explained).toMatchObject({
      verdict: { action: 'hold', rule: { policy: 'tested', version: 1, index: 1 } },
      parts: [{ policies: [{ name: 'tested', rules: [{ outcome: 'no_match' }, { outcome: 'decides' }] }] }],
    });
    const document = await api.client.testPolicy({ call: write, policy: hold('bash') });
    expect(document.verdict).toMatchObject({ action: 'allow', rule: { policy: 'builtin' } });
    const bash = { toolset: 'sage', tool: 'Bash', args: { command: 'make' } };
    const settings = { bash_allowlist: ['make'] };
    const actions = [];
    for (const more of [{}, { settings }, { settings, modes: { read_only: true } }]) {
      actions.push((await api.client.testPolicy({ call: { ...bash, ...more }, policy: { rules: [] } })).verdict.action);
    }
    expect(actions).toEqual(['deny', 'allow', 'deny']);
  });

  test.for([
    [{ call: { tool: 'wirte_file' } }, '/call/tool', 'invalid_request'],
    [{ call: { ...write, settings: { a: 1 } } }, '/call/settings/a', 'invalid_settings'],
    [{ call: { ...write, modes: { reed_only: true } } }, '/call/modes/reed_only', 'invalid_request'],
    [
      { call: write, policy: { rules: [{ match: { tol: 'a' }, action: 'hold' }] } },
      '/policy/rules/0/match/tol',
      'invalid_policy',
    ],
    [
      { call: write, policy: { rules: [{ match: { tool: 'edti' }, action: 'hold' }] } },
      '/policy/rules/0/match/tool',
      'invalid_policy',
    ],
    [{ call: { ...write, args: { path: 1 } } }, '/call/args/content', 'invalid_request'],
  ] as const)('refuses what is wrong with it: %j', async ([body, pointer, code]) => {
    const problem = await problemOf(await api.post('/v1/policies/test', { policy: { rules: [] }, ...body }));
    expect(problem).toMatchObject({ status: 422, code });
    expect(problem.errors?.map((one) => one.pointer)).toContain(pointer);
  });
});

describe("the operator's policy", () => {
  test('binds every run at once, as its newest version', async () => {
    expect((await api.client.getBounds()).policy).toBe(null);
    await api.client.putPolicy('operator', hold('write_file'));
    const bounds = await api.client.getBounds();
    expect(bounds).toMatchObject({
      policy: expect.stringMatching(/^sha256:/),
      policy_version: 1,
      policy_problem: null,
    });
    const { run } = await api.client.createRun({ plan });
    await worker.drive(run.id);
    const [step] = (await api.client.listSteps(run.id)).data;
    expect((await api.client.getStep(step?.id ?? '')).verdict).toMatchObject({
      action: 'hold',
      rule: { policy: 'operator', version: 1 },
    });
    const timeout = await put('operator', 'approval_timeout_s: 5');
    expect(await problemOf(timeout)).toMatchObject({ errors: [{ pointer: '/approval_timeout_s' }] });
    await api.client.deletePolicy('operator');
    expect((await api.client.getBounds()).policy).toBe(null);
    expect((await api.client.getRun(run.id)).request.operator_policies).toMatchObject([{ version: 1 }]);
  });

  test('is the one of the file when there is one', async () => {
    const root = mkdtempSync(join(tmpdir(), 'hp-policy-file-'));
    const file = join(root, 'policy.yaml');
    writeFileSync(file, 'rules: [{ match: { tool: edit }, action: hold }]');
    const other = await startTestApi({ policyFile: file });
    try {
      const change = other.client.putPolicy('operator', hold('bash'));
      await expect(change).rejects.toMatchObject({ status: 409, code: 'managed_by_file' });
      await expect(other.client.deletePolicy('operator')).rejects.toMatchObject({ code: 'managed_by_file' });
      expect(await other.client.getBounds()).toMatchObject({ policy_version: null, policy_problem: null });
    } finally {
      await other.stop();
      rmSync(root, { recursive: true });
    }
    await expect(startTestApi({ policyFile: file })).rejects.toThrow('HOLDPOINT_POLICY');
  });
});
