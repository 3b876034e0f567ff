import { newId } from '@holdpoint/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let runId: string;
beforeAll(async () => {
  api = await startTestApi();
  const groups = [{ steps: [{ tool: 'glob', args: { pattern: '*' } }] }];
  await api.client.putPolicy('house', { rules: [] });
  runId = (await api.client.createRun({ plan: { groups } })).run.id;
});
afterAll(() => api.stop());

test('a cursor that no page gave is refused, and is not the first page', async () => {
  const lists = [
    ['/v1/runs', ['zzz', '0', '%00', newId('step')]],
    ['/v1/approvals', ['zzz', newId('run')]],
    [`/v1/approvals?run_id=${runId}`, ['zzz', newId('run')]],
    ['/v1/keys', ['zzz', newId('run')]],
    ['/v1/rules', ['zzz', newId('run')]],
    ['/v1/audit', ['zzz', '-1']],
    ['/v1/policies/house/versions', ['zzz', '0', '1', '3', '999']],
    ['/v1/events', ['zzz', newId('run'), '1', '0-0', '1-x']],
    // Another run's step is nowhere in this list.
    [`/v1/runs/${runId}/steps`, ['zzz', newId('run'), newId('step')]],
  ] as const;
  for (const [path, cursors] of lists) {
    for (const cursor of cursors) {
      const response = await api.send(`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
      expect(await problemOf(response), `${path} ${cursor}`).toMatchObject({
        ...{ status: 422, code: 'invalid_request' },
        errors: [{ pointer: 'cursor' }],
      });
    }
  }
});
