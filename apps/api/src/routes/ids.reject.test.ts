import { expect, test } from 'vitest';
import { problemOf, useTestApi } from '../testing/test-api.ts';
import { testWorker } from '../testing/test-worker.ts';

const api = useTestApi();

test('an id of another kind is not found, although one index knows the run of each', async () => {
  const steps = [{ tool: 'write_file', args: { path: 'a.txt', content: 'text' } }];
  const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
  const { run } = await api.client.createRun({ plan: { groups: [{ steps }] }, policy });
  await testWorker(api.engine, api.dataDir).drive(run.id);
  const [approval] = (await api.client.listApprovals({ run_id: run.id })).data;
  if (!approval?.step_id) throw new Error('nothing is held');

  const answer = async (path: string) => (await problemOf(await api.send(path))).code;
  expect(await answer(`/v1/approvals/${approval.step_id}`)).toBe('approval_not_found');
  expect(await answer(`/v1/steps/${approval.id}`)).toBe('step_not_found');
  expect(await answer(`/v1/steps/${approval.id}/attempts`)).toBe('step_not_found');
  expect(await answer(`/v1/tasks/${approval.id}`)).toBe('task_not_found');
  for (const decision of ['approve', 'edit']) {
    const body = { decision, action_digest: approval.action_digest, ...(decision === 'edit' && { args: {} }) };
    const refused = await problemOf(await api.post(`/v1/approvals/${approval.step_id}/decision`, body));
    expect(refused).toMatchObject({ status: 404, code: 'approval_not_found' });
  }
});
