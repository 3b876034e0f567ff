import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('a text gets every mistake with its line, and a good text its digest', async () => {
  const text = 'rules:\n  - match: { tool: bsh }\n    action: hold\n';
  expect(await api.client.checkPolicy({ text })).toMatchObject({
    ...{ ok: false, rules: 1, digest: null },
    mistakes: [{ pointer: '/rules/0/match/tool', line: 2, column: 14, detail: expect.stringContaining('bash') }],
  });
  const broken = await api.client.checkPolicy({ text: 'rules: [\n' });
  expect(broken).toMatchObject({ ok: false, rules: null, mistakes: [{ line: 2, column: 1 }] });
  const good = await api.client.checkPolicy({ text: text.replace('bsh', 'bash') });
  const stored = await api.client.putPolicy('checked', { rules: [{ match: { tool: 'bash' }, action: 'hold' }] });
  const { digest, document } = stored.policy;
  expect(good).toEqual({ ok: true, rules: 1, digest, document, mistakes: [] });
});

test('what only the operator may not have is a mistake under its name', async () => {
  const text = 'approval_timeout_s: 60\n';
  expect(await api.client.checkPolicy({ text })).toMatchObject({ ok: true });
  expect(await api.client.checkPolicy({ text, name: 'operator' })).toMatchObject({
    ...{ ok: false, mistakes: [{ pointer: '/approval_timeout_s', line: 1 }] },
  });
});
