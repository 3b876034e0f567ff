import { createHmac, randomUUID } from 'node:crypto';
import { newId, openPullStore, type PullStore } from '@holdpoint/engine';
import { openSecrets } from '@holdpoint/secrets';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';

const secret = 'a secret of the webhook 1234';
const environment = { HOLDPOINT_SECRET_HOOK: ` ${secret}\n`, HOLDPOINT_SECRET_SHORT: 'fifteen letters' };
const secrets = openSecrets({
  ...{ environment, variables: [], folder: undefined, storeFolder: '/nowhere', key: undefined },
});
const apis: TestApi[] = [];
const start = async (githubWebhook?: string): Promise<TestApi> => {
  const api = await startTestApi({ secrets, ...(githubWebhook !== undefined && { githubWebhook }) });
  apis.push(api);
  return api;
};

let api: TestApi;
let store: PullStore;
let runId: string;
/** Far enough for a look to be nothing but that of a hook. */
const dueAt = Date.now() + 3600_000;

beforeAll(async () => {
  api = await start('HOOK');
  store = openPullStore(api.engine.redis);
  runId = newId('run');
  const state = {
    ...{
      run_id: runId,
      branch: 'refs/heads/b',
      commit: 'c'.repeat(40),
      number: 7,
      url: 'https://github.com/o/r/pull/7',
    },
    ...{ published_at: new Date().toISOString(), status: 'open' as const, rounds: 0, heard: [], answers: [], quiet: 0 },
    target: {
      ...{ provider: 'github' as const, api: 'https://api.github.com', repository: 'Owner/Project' },
      ...{ secret: 'T', title: 'Do it' },
    },
  };
  await store.put({ after: undefined, state, wakeAt: dueAt }, Date.now());
});
afterAll(async () => {
  for (const one of apis) await one.stop();
});

const sign = (body: string, by = secret): string => `sha256=${createHmac('sha256', by).update(body).digest('hex')}`;
const payload = (more: object = {}): string =>
  JSON.stringify({ repository: { full_name: 'owner/project' }, pull_request: { number: 7 }, ...more });
/** As GitHub sends it: without a key. */
const send = (to: TestApi, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${to.address}/v1/hooks/github`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-github-delivery': randomUUID() },
      ...{ 'x-hub-signature-256': sign(body), ...headers },
    },
    body,
  });

const body = payload();
const forged: [string, string, Record<string, string>][] = [
  ['without a signature', body, { 'x-hub-signature-256': '' }],
  ['by another secret', body, { 'x-hub-signature-256': sign(body, 'another secret of 16') }],
  ['by an empty secret', body, { 'x-hub-signature-256': sign(body, ' ') }],
  ['of another body', `${body} `, { 'x-hub-signature-256': sign(body) }],
  ['of no body', body, { 'x-hub-signature-256': sign('') }],
  [
    'by the older algorithm',
    body,
    { 'x-hub-signature-256': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}` },
  ],
  ['cut off', body, { 'x-hub-signature-256': sign(body).slice(0, -1) }],
  ['that is longer', body, { 'x-hub-signature-256': `${sign(body)}0` }],
  ['twice', body, { 'x-hub-signature-256': `${sign(body)}, ${sign(body)}` }],
  ['in another header', body, { 'x-hub-signature-256': '', 'x-hub-signature': sign(body) }],
  ['that is not hexadecimal', body, { 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` }],
];

test.each(forged)('a signature %s is refused, and nothing changes', async (_, text, headers) => {
  const before = await contentOf(api.engine);
  const problem = await problemOf(await send(api, text, headers));
  expect(problem).toMatchObject({ status: 401, code: 'hook_refused' });
  expect(JSON.stringify(problem)).not.toContain(secret);
  expect(await contentOf(api.engine)).toEqual(before);
});

test.each([
  ['another content type', body, { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['a body of six megabytes', body.padEnd(6 * 1024 ** 2, ' '), {}, 413],
])('%s is refused, and nothing changes', async (_, text, headers: Record<string, string>, status) => {
  const before = await contentOf(api.engine);
  expect((await send(api, text, headers)).status).toBe(status);
  expect(await contentOf(api.engine)).toEqual(before);
});

test.each([
  ['no JSON', 'no JSON'],
  ['a text', '"owner/project"'],
  ['nothing of a repository', '{}'],
  ['a repository of another type', payload({ repository: { full_name: ['owner/project'] } })],
  ['a repository with a pattern', payload({ repository: { full_name: '*' } })],
  ['another repository', payload({ repository: { full_name: 'owner/other' } })],
  ['another pull request', payload({ pull_request: { number: 8 } })],
  ['a number that is none', payload({ pull_request: { number: '7' } })],
  ['neither a number nor a commit', payload({ pull_request: undefined })],
  ['a check of another commit', payload({ pull_request: undefined, check_run: { head_sha: 'd'.repeat(40) } })],
  ['a status of another commit', payload({ pull_request: undefined, sha: 'd'.repeat(40) })],
])('a signed delivery with %s has nothing looked at', async (_, text) => {
  expect(await (await send(api, text)).json()).toEqual({ taken: true });
  expect([await store.dueAt(runId), (await store.find(runId))?.hooks]).toEqual([dueAt, '0']);
});

test.each([
  ['a check', { check_run: { head_sha: 'c'.repeat(40) } }],
  ['a status', { sha: 'c'.repeat(40) }],
  ['a comment in the conversation', { issue: { number: 7 } }],
])('a signed delivery of %s has the pull request looked at', async (_, more) => {
  const { hooks } = (await store.find(runId)) ?? {};
  expect((await send(api, payload({ pull_request: undefined, ...more }))).status).toBe(202);
  expect((await store.find(runId))?.hooks).toBe(String(Number(hooks) + 1));
});

test('a signed delivery has the pull request looked at, once however often it is sent', async () => {
  const headers = { 'x-github-delivery': randomUUID() };
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(api, body, headers)));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  const { hooks } = (await store.find(runId)) ?? {};
  expect(await store.dueAt(runId)).toBeLessThanOrEqual(Date.now());
  for (let sent = 0; sent < 3; sent++) {
    expect(await (await send(api, body, headers)).json()).toEqual({ taken: false });
  }
  expect((await store.find(runId))?.hooks).toBe(hooks);
});

test.each([undefined, 'SHORT', 'UNKNOWN'])(
  'where the secret is %s no delivery is taken, and no answer names it',
  async (name) => {
    const off = await start(name);
    for (const by of ['fifteen letters', '', secret]) {
      const problem = await problemOf(await send(off, body, { 'x-hub-signature-256': sign(body, by || ' ') }));
      expect(problem).toMatchObject({ status: 404, code: 'hooks_off' });
      if (name !== undefined) expect(JSON.stringify(problem)).not.toContain(name);
    }
  },
);
