import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('the operator sets quotas, a caller sees their own, and the refusal says which and until when', async () => {
  const scopes = ['runs:read', 'runs:write'] as const;
  const { key } = await api.client.createKey({ name: 'ann', kind: 'person', tenant: 'acme', scopes: [...scopes] });
  const as = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = (path: string, init: RequestInit = {}) => api.send(path, { ...init, headers: as });
  const { version } = await api.client.putQuotas('acme', { person: { runs_per_day: 1 } });
  await expect(api.client.putQuotas('acme', { version: version - 1 })).rejects.toMatchObject({
    code: 'quotas_changed',
  });
  const submit = () => ask('/v1/runs', { method: 'POST', body: JSON.stringify({ open: true }) });
  expect((await submit()).status).toBe(201);
  const refused = await submit();
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5);
  expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'quota_reached' });
  expect(await (await ask('/v1/quotas')).json()).toMatchObject({ tenant: 'acme', own: { runs_per_day: 1 } });
  expect((await ask('/v1/quotas/default')).status).toBe(403);
  expect((await ask('/v1/quotas/acme', { method: 'PUT', body: '{}' })).status).toBe(403);
});

test('an agent sets none, and a quota that is none is refused with its place', async () => {
  const { key } = await api.client.createKey({ name: 'robot', kind: 'agent', scopes: ['queues:admin'] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const put = await api.send('/v1/quotas/acme', { method: 'PUT', body: '{}', headers });
  expect(await problemOf(put)).toMatchObject({ status: 403, code: 'agents_set_no_quotas' });
  const wrong = await api.send('/v1/quotas/acme', { method: 'PUT', body: '{"tenant":{"runs_per_day":0}}', headers });
  expect(await problemOf(wrong)).toMatchObject({ status: 422, errors: [{ pointer: '/tenant/runs_per_day' }] });
});
