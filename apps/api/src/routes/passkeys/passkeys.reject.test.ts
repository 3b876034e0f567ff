import { createClient } from '@holdpoint/client';
import type { Scope } from '@holdpoint/contract';
import type { Approval, AssertionOptions, RegistrationOptions } from '@holdpoint/contract/wire';
import { createTestPasskey, readLog, sealAll } from '@holdpoint/engine/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPasskeyPage, type PasskeyPage, pageWithPasskey, signedBy } from '../../testing/passkey-page.ts';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
let page: PasskeyPage;
let keys: { ann: string; bob: string };
const scopes: Scope[] = ['runs:read', 'runs:write', 'approvals:read', 'approvals:decide', 'keys:admin'];
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });

beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  const keyOf = async (name: string, kind: 'person' | 'service' = 'person') =>
    (await api.client.createKey({ name, kind, scopes })).key;
  keys = { ann: await keyOf('ann'), bob: await keyOf('bob') };
  page = await pageWithPasskey(api, keys.ann, 'ann');
});
afterAll(() => api.stop());

const codeOf = async (response: Promise<Response> | Response) => (await problemOf(await response)).code;
const permit = async (person: string) => (await api.client.permitPasskey({ person })).code;

async function held(more: object = {}): Promise<Approval> {
  const rules = [{ match: {}, action: 'hold', confirm: 'passkey', ...more }] as never;
  const step = { tool: 'write_file', args: { path: 'a.txt', content: `${Math.random()}` } };
  const { run } = await api.client.createRun({ plan: { groups: [{ steps: [step] }] }, policy: { rules } });
  await worker.drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  if (approval === undefined) throw new Error('nothing is held');
  return approval;
}
const approving = ({ action_digest }: Approval) => ({ decision: 'approve', action_digest });
const decide = (by: PasskeyPage, { id }: Approval, body: object) => by.post(`/v1/approvals/${id}/decision`, body);

describe('a decision', () => {
  test('needs the signature of a passkey, and says where it is made', async () => {
    const approval = await held();
    expect(approval.confirm).toBe('passkey');
    const refused = await problemOf(await decide(page, approval, approving(approval)));
    expect(refused).toMatchObject({ status: 403, code: 'passkey_required' });
    expect(refused.next).toContain(`/approvals/${approval.id}`);
    const { assertion } = await signedBy(page, approval.id, approving(approval));
    const decided = await decide(page, approval, { ...approving(approval), assertion });
    expect([decided.status, ((await decided.json()) as Approval).decision]).toMatchObject([200, { confirmed: true }]);
    // An answer that was lost: the same request gets the first answer, and the challenge is used up.
    expect((await decide(page, approval, { ...approving(approval), assertion })).status).toBe(200);
    const reject = { ...approving(approval), decision: 'reject', assertion };
    expect(await codeOf(decide(page, approval, reject))).toBe('already_decided');
  });

  test('takes no signature of another approval, decision, caller or site, and none twice', async () => {
    const [one, other] = [await held(), await held()];
    const signed = await signedBy(page, one.id, approving(one));
    expect(await codeOf(decide(page, other, { ...approving(other), assertion: signed.assertion }))).toBe(
      'passkey_refused',
    );
    const respond = { ...approving(one), decision: 'respond', message: 'done', assertion: signed.assertion };
    expect(await codeOf(decide(page, one, respond))).toBe('passkey_refused');
    const said = { ...approving(one), message: 'another', assertion: signed.assertion };
    expect(await codeOf(decide(page, one, said))).toBe('passkey_refused');
    const bob = await pageWithPasskey(api, keys.bob, 'bob');
    expect(await codeOf(decide(bob, one, { ...approving(one), assertion: signed.assertion }))).toBe('passkey_refused');
    const asAnn = { ...approving(one), assertion: bob.passkey.sign(signed.challenge) };
    expect(await codeOf(decide(page, one, asAnn))).toBe('passkey_refused');
    const elsewhere = page.passkey.sign(signed.challenge, { origin: 'http://localhost:1' });
    expect(await codeOf(decide(page, one, { ...approving(one), assertion: elsewhere }))).toBe('passkey_refused');
    const unverified = page.passkey.sign(signed.challenge, { flags: 1 });
    expect(await codeOf(decide(page, one, { ...approving(one), assertion: unverified }))).toBe('passkey_refused');
    const own = page.passkey.sign(Buffer.alloc(32).toString('base64url'));
    expect(await codeOf(decide(page, one, { ...approving(one), assertion: own }))).toBe('passkey_refused');
    expect((await api.client.getApproval(one.id)).status).toBe('pending');
    expect((await decide(page, one, { ...approving(one), assertion: signed.assertion })).status).toBe(200);
  });

  test('takes no signature whose counter went back, and none that is too old', async () => {
    const approval = await held();
    const cloned = await signedBy(page, approval.id, approving(approval));
    const assertion = page.passkey.sign(cloned.challenge, { counter: 1 });
    expect(await codeOf(decide(page, approval, { ...approving(approval), assertion }))).toBe('passkey_refused');
    const { challenge, assertion: late } = await signedBy(page, approval.id, approving(approval));
    const key = `hp:{keys}:challenge:${challenge}`;
    const [, json = ''] = /^\d+ (.*)$/.exec((await api.engine.redis.get(key)) ?? '') ?? [];
    // As after a clock that was set back: the entry is still there, and its time is past.
    await api.engine.redis.set(key, `${Date.now() - 301_000} ${json}`);
    expect(await codeOf(decide(page, approval, { ...approving(approval), assertion: late }))).toBe('passkey_refused');
    expect((await api.client.getApproval(approval.id)).status).toBe('pending');
  });

  test('survives a restart of the API, and two browsers at once decide once', async () => {
    const approval = await held();
    const [one, two] = [
      await signedBy(page, approval.id, approving(approval)),
      await signedBy(page, approval.id, approving(approval)),
    ];
    await api.restart();
    const answers = await Promise.all(
      [one, two, one].map(({ assertion }) => decide(page, approval, { ...approving(approval), assertion })),
    );
    for (const { status } of answers) expect([200, 403]).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    const events = await readLog(api.engine.redis, approval.run_id);
    expect(events.filter(({ type }) => type === 'approval.decided')).toHaveLength(1);
    expect((await api.client.getApproval(approval.id)).decision).toMatchObject({ confirmed: true });
  });

  test('of many at once is refused for each call that needs a passkey', async () => {
    const [one, other] = [await held(), await held({ confirm: undefined })];
    const items = [one, other].map(({ id, action_digest }) => ({ approval_id: id, action_digest }));
    const results = await api.client.decideApprovals({ decision: 'approve', items });
    expect(results.map(({ problem }) => problem?.code ?? null)).toEqual(['passkey_required', null]);
  });
});

describe('a passkey', () => {
  test('is added with a code of the operator, which works once and for its person', async () => {
    const { name, key } = await api.client.createKey({ name: 'carol', kind: 'person', scopes });
    const carol = openPasskeyPage(api, withKey(key));
    const begin = (body: object) => codeOf(carol.post('/v1/passkeys/registration', body));
    expect(await begin({})).toBe('no_passkey');
    expect(await begin({ permit: await permit('dave') })).toBe('permit_refused');
    expect(await begin({ permit: `hpp_${'A'.repeat(43)}` })).toBe('permit_refused');
    const code = await permit(name);
    expect((await carol.add({ permit: code })).status).toBe(201);
    expect(await begin({ permit: code })).toBe('permit_refused');
  });

  test('is not added by a stolen session or key: a passkey of the person signs first', async () => {
    const thief = openPasskeyPage(
      api,
      withKey(keys.ann),
      createTestPasskey({ rpId: 'localhost', origin: page.origin }),
    );
    const begun = await thief.ask<RegistrationOptions>('/v1/passkeys/registration', {});
    const registration = thief.passkey.register(begun.registration.challenge);
    const add = (more: object) => codeOf(thief.post('/v1/passkeys', { name: 'x', registration, ...more }));
    expect(await add({})).toBe('registration_refused');
    const signed = thief.passkey.sign(begun.assertion?.challenge ?? '');
    expect(await add({ assertion: signed })).toBe('registration_refused');
    // Signed for a decision: of no use for a registration.
    const approval = await held();
    const { assertion } = await signedBy(page, approval.id, approving(approval));
    expect(await add({ assertion })).toBe('registration_refused');
    const other = await thief.ask<RegistrationOptions>('/v1/passkeys/registration', {});
    const forOther = page.passkey.sign(other.assertion?.challenge ?? '');
    expect(await add({ assertion: forOther })).toBe('registration_refused');
    expect((await createClient({ baseUrl: api.address, key: keys.ann }).listPasskeys()).length).toBe(1);
    const real = page.passkey.sign(begun.assertion?.challenge ?? '');
    expect((await thief.post('/v1/passkeys', { name: 'Second', registration, assertion: real })).status).toBe(201);
    expect(await add({ assertion: real })).toBe('registration_refused');
  });

  test('is permitted by the key in the key file alone', async () => {
    const client = createClient({ baseUrl: api.address, key: keys.ann });
    await expect(client.permitPasskey({ person: 'ann' })).rejects.toMatchObject({ code: 'key_not_allowed' });
    const session = openPasskeyPage(api, {});
    const logged = await session.post('/v1/session', { key: api.key });
    const [cookie = ''] = logged.headers.getSetCookie()[0]?.split(';') ?? [];
    const admin = openPasskeyPage(api, { cookie });
    expect(await codeOf(admin.post('/v1/passkeys/permits', { person: 'admin' }))).toBe('key_required');
  });

  test('is of a person, never of an agent or a service, and of a page at a name', async () => {
    for (const kind of ['agent', 'service'] as const) {
      const { key } = await api.client.createKey({ name: `a ${kind}`, kind, scopes: ['runs:read'] });
      const its = openPasskeyPage(api, withKey(key));
      expect(await codeOf(its.post('/v1/passkeys/registration', {}))).toBe('passkey_not_allowed');
    }
    const path = '/v1/passkeys/registration';
    expect(await codeOf(api.post(path, {}))).toBe('passkey_address');
    expect(await codeOf(api.post(path, {}, { origin: api.address }))).toBe('passkey_address');
  });

  test('is refused when the browser did not verify the person, or the page is another', async () => {
    for (const signing of [{ flags: 1 }, { origin: 'http://localhost:1' }, { rpId: 'example.org' }]) {
      const { challenge } = (
        await page.ask<RegistrationOptions>('/v1/passkeys/registration', { permit: await permit('ann') })
      ).registration;
      const registration = createTestPasskey({ rpId: 'localhost', origin: page.origin }).register(challenge, signing);
      expect(await codeOf(page.post('/v1/passkeys', { name: 'x', registration }))).toBe('registration_refused');
    }
  });

  test('that was revoked signs nothing, and what it signed before stays proved', async () => {
    const { key } = await api.client.createKey({ name: 'erin', kind: 'person', scopes });
    const erin = await pageWithPasskey(api, key, 'erin');
    const [first, second] = [await held(), await held()];
    const before = await signedBy(erin, first.id, approving(first));
    expect((await decide(erin, first, { ...approving(first), assertion: before.assertion })).status).toBe(200);
    const { assertion } = await signedBy(erin, second.id, approving(second));
    const client = createClient({ baseUrl: api.address, key });
    const [own] = await client.listPasskeys();
    await client.revokePasskey(own?.id ?? '');
    expect(await codeOf(decide(erin, second, { ...approving(second), assertion }))).toBe('passkey_refused');
    const again = erin.post(`/v1/approvals/${second.id}/challenge`, approving(second));
    expect(await codeOf(again)).toBe('no_passkey');
    await sealAll({ ...api.engine, dataDir: api.dataDir, redact: (text) => text });
    expect(await api.client.verifyAudit()).toMatchObject({ ok: true, findings: [] });
    const changes = (await api.client.listAudit({ limit: 200 })).data.filter(({ kind }) => kind === 'change');
    const of = changes.filter((record) => 'subject' in record && record.subject === `passkey/${own?.id}`);
    expect(of.map((record) => 'action' in record && record.action)).toEqual(['registered', 'revoked']);
  });

  test('of another person is seen and revoked with keys:admin alone', async () => {
    const { key } = await api.client.createKey({ name: 'reader', kind: 'person', scopes: ['runs:read'] });
    const reader = createClient({ baseUrl: api.address, key });
    await expect(reader.listPasskeys({ person: 'bob' })).rejects.toMatchObject({ code: 'missing_scope' });
    const [passkey] = await api.client.listPasskeys({ person: 'bob' });
    await expect(reader.revokePasskey(passkey?.id ?? '')).rejects.toMatchObject({ code: 'passkey_not_found' });
    await api.client.revokePasskey(passkey?.id ?? '');
    expect(await api.client.listPasskeys({ person: 'bob' })).toEqual([]);
  });

  test('asks for the challenge as a browser takes it', async () => {
    const approval = await held();
    const options = await page.ask<AssertionOptions>(`/v1/approvals/${approval.id}/challenge`, approving(approval));
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required', timeout: 300_000 });
    expect(options.allowCredentials.map(({ id }) => id)).toContain(page.passkey.id);
  });
});
