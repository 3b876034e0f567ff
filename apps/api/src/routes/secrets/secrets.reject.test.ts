import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSecrets, secretSettingsFrom } from '@holdpoint/secrets';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'hp-api-secrets-'));
const env = { HOLDPOINT_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), HOLDPOINT_SECRET_MINE: 'value-of-mine' };
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ secrets: openSecrets(secretSettingsFrom(env, { dataDir: folder })) });
});
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

const put = (name: string, body: unknown) =>
  api.send(`/v1/secrets/${name}`, {
    method: 'PUT',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });

test('a value goes in and never comes out', async () => {
  expect(await api.client.setSecret('TOKEN', { value: 'value-of-token' })).toMatchObject({
    version: 1,
    source: 'store',
  });
  expect(await api.client.setSecret('TOKEN', { value: 'value-of-token-2' })).toMatchObject({ version: 2 });
  expect((await api.client.listSecrets()).map(({ name, source }) => [name, source])).toEqual([
    ['MINE', 'environment'],
    ['TOKEN', 'store'],
  ]);
  expect(await (await api.send('/v1/secrets')).text()).not.toContain('value-of');
  expect(await api.client.removeSecret('TOKEN')).toMatchObject({ name: 'TOKEN' });
  await expect(api.client.removeSecret('TOKEN')).rejects.toMatchObject({ status: 404, code: 'secret_not_found' });
});

test.each(['{"value":"value-of-a"b"}', '{"value":value-of-a}', 'value-of-a', '{"value":"value-of-a'])(
  'a body that is no JSON is not quoted: %s',
  async (body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await (await api.send('/v1/secrets/TOKEN', { method: 'PUT', body, headers })).text();
    expect(JSON.parse(answer)).toMatchObject({ code: 'malformed_json', status: 400 });
    expect(answer).not.toContain('value-of');
    expect((await api.client.listSecrets()).map(({ name }) => name)).toEqual(['MINE']);
  },
);

test.each([
  ['TOKEN', { value: '1234567' }, 422, 'invalid_request'],
  ['TOKEN', { value: 'with a \0 in it' }, 422, 'invalid_request'],
  ['TOKEN', { value: 'long enough', more: 1 }, 422, 'invalid_request'],
  ['my-token', { value: 'long enough' }, 422, 'invalid_request'],
  ['MINE', { value: 'long enough' }, 409, 'secret_taken'],
])('refuses %s with %j', async (name, body, status, code) => {
  const problem = await problemOf(await put(name, body));
  expect([problem.status, problem.code]).toEqual([status, code]);
  expect(JSON.stringify(problem)).not.toContain(body.value);
});

test.each([
  [{ prompt: 'say value-of-mine' }, '/prompt'],
  [{ prompt: 'x', labels: { a: Buffer.from('value-of-mine').toString('hex') } }, '/labels/a'],
  [{ prompt: 'x', labels: { 'value-of-mine': 'b' } }, '/labels'],
])('a request with a value is refused with its place, and changes nothing: %j', async (body, pointer) => {
  const before = await contentOf(api.engine);
  const problem = await problemOf(await api.post('/v1/runs', body));
  expect(problem).toMatchObject({ status: 422, code: 'secret_in_request', errors: [{ pointer }] });
  expect(JSON.stringify(problem)).not.toContain('value-of-mine');
  expect(await contentOf(api.engine)).toEqual(before);
});

test('a use that cannot work is refused with its place', async () => {
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] };
  const header = (host: string, more = {}) => ({
    name: 'MINE',
    as: { header: { host, name: 'authorization', ...more } },
  });
  for (const [secrets, code, pointer] of [
    [[{ name: 'MIEN', as: { env: 'X' } }], 'unknown_secret', '/secrets/0/name'],
    [[header('api.test')], 'invalid_secret_use', '/secrets/0/as/header/host'],
    [[{ name: 'MINE', as: { placeholder: true } }], 'invalid_secret_use', '/secrets/0/as/placeholder'],
    [[{ name: 'MINE', as: { env: 'LD_PRELOAD' } }], 'invalid_request', '/secrets/0/as/env'],
    [
      [
        { name: 'MINE', as: { env: 'A' } },
        { name: 'MINE', as: { env: 'A' } },
      ],
      'invalid_request',
      '/secrets/1/as',
    ],
    [[header('*.test')], 'invalid_request', '/secrets/0/as/header/host'],
    [[header('a.test', { name: 'Host' })], 'invalid_request', '/secrets/0/as/header/name'],
    [[header('a.test', { value: 'none' })], 'invalid_request', '/secrets/0/as/header/value'],
  ] as const) {
    const problem = await problemOf(await api.post('/v1/runs', { plan, secrets }));
    expect([problem.code, problem.errors?.[0]?.pointer]).toEqual([code, pointer]);
  }
});

test('no answer shows a value, not even a value stored before it became a secret', async () => {
  const { run } = await api.client.createRun({
    prompt: 'use later-a-secret here',
    model: 'ollama/any',
    title: 'later-a-secret',
  });
  await api.client.setSecret('LATER', { value: 'later-a-secret' });
  for (const path of [`/v1/runs/${run.id}`, '/v1/runs', `/v1/runs/${run.id}/events`, '/v1/runs/later-a-secret']) {
    const text = await (await api.send(path)).text();
    expect(text).toContain('[secret LATER]');
    expect(text).not.toContain('later-a-secret');
  }
});
