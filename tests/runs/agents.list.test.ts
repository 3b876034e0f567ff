import { expect, test } from 'vitest';
import { finished, useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();

test('an approval and a pause of a nested sub-agent are handled at the root run', async () => {
  const { client } = system;
  const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
  const inner = { tool: 'task', args: { description: 'inner', plan: [{ steps: [write] }] } };
  const outer = { tool: 'task', args: { description: 'outer', plan: [{ steps: [inner] }] } };
  const { run } = await client.createRun({
    plan: { groups: [{ steps: [outer] }] },
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
  });
  const signal = AbortSignal.timeout(25_000);
  const waiting = await client.waitForRun(run.id, { until: ({ status }) => status === 'waiting', signal });
  expect(waiting).toMatchObject({ pending_approvals: 1, usage: { agents: { count: 2 } } });
  const [held] = waiting.waiting_for;
  expect(held).toMatchObject({ title: 'inner', status: 'waiting', approvals: 1 });
  const [approval] = (await client.listApprovals({ run_id: run.id })).data;
  expect(approval).toMatchObject({ run_id: held?.run_id, action: { tool: 'write_file' } });

  await client.pauseRun(held?.run_id ?? '');
  await client.decideApproval(approval?.id ?? '', {
    decision: 'approve',
    action_digest: approval?.action_digest ?? '',
  });
  const paused = await client.waitForRun(run.id, { until: ({ paused_agents }) => paused_agents === 1, signal });
  expect(paused).toMatchObject({
    pending_approvals: 0,
    blocker: { run_id: held?.run_id, reason: { code: 'paused_by_hand' } },
    waiting_for: [{ run_id: held?.run_id, status: 'paused', reason: { code: 'paused_by_hand' } }],
  });
  await client.resumeRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', paused_agents: 0, waiting_for: [] });
});
