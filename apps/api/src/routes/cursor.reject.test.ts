import { newId } from '@holdpoint/engine';
import { beforeAll, expect, test } from 'vitest';
import { problemOf, useTestApi } from '../testing/test-api.ts';

const api = useTestApi();
let runId: string;
beforeAll(async () => {
  const groups = [{ steps: [{ tool: 'glob', args: { pattern: '*' } }] }];
  runId = (await api.client.createRun({ plan: { groups } })).run.id;
});

test('a cursor that no page gave is refused, and is not the first page', async () => {
  const lists = [
    ['/v1/runs', ['zzz', '0', '%00', newId('step')]],
    ['/v1/approvals', ['zzz', newId('run')]],
    [`/v1/approvals?run_id=${runId}`, ['zzz', newId('run')]],
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
