import type { Approval } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();

// covers S0-01, S0-120, S0-123
test('an approved "git status" approves the same command again, and no other', async () => {
  const { client } = system;
  const workspace = { source: { type: 'directory' as const, path: await system.directoryWith({ 'a.txt': 'a\n' }) } };
  const { run } = await client.createRun({ open: true, toolset: 'cli-agent', workspace });
  const send = async (...calls: { tool: string; args: Record<string, string> }[]) =>
    (await client.sendCalls(run.id, { calls })).number;
  const asked = async (): Promise<Approval> => {
    const signal = AbortSignal.timeout(60_000);
    await client.waitForRun(run.id, { until: ({ pending_approvals }) => pending_approvals > 0, signal });
    const [approval] = (await client.listApprovals({ run_id: run.id })).data;
    if (approval === undefined) throw new Error('nothing is asked');
    return approval;
  };
  const decide = async (approval: Approval, decision: 'approve' | 'reject', remember?: 'run') =>
    client.decideApproval(approval.id, { decision, action_digest: approval.action_digest, remember });
  const result = async (number: number) => {
    const signal = AbortSignal.timeout(60_000);
    const settled = async () => (await client.getCalls(run.id, number, { signal })).steps[0];
    let step = await settled();
    while (step?.result === null || step === undefined) step = await settled();
    return step.result;
  };
  const terminal = (command: string) => send({ tool: 'run_in_terminal', args: { command } });

  const first = await terminal('git status');
  const approval = await asked();
  expect(approval).toMatchObject({
    reason: 'every call of run_in_terminal asks a person',
    rule: { policy: 'toolset:cli-agent' },
    display: expect.stringContaining('Tool: run_in_terminal\nParameters:\n  command: git status\n'),
  });
  await decide(approval, 'approve', 'run');
  expect(await result(first)).toMatchObject({ success: true });

  // Settles without a question: the remembered rule answers.
  expect(await result(await terminal('git status'))).toMatchObject({ success: true });
  for (const command of ['git push', 'git status && touch x', 'git status; git push', 'git status ']) {
    const number = await terminal(command);
    const other = await asked();
    expect(other.action.args).toMatchObject({ command });
    await decide(other, 'reject');
    expect(await result(number)).toMatchObject({ success: false, error: { code: 'approval_denied' } });
  }
  // A tool that only reads asks no person, and the last command is the last one that ran.
  expect(await result(await send({ tool: 'terminal_last_command', args: {} }))).toMatchObject({
    success: true,
    metadata: { command: 'git status' },
  });
  await client.finishRun(run.id);
});

test('a setting of the run says which calls ask', async () => {
  const { client } = system;
  const { run } = await client.createRun({ open: true, toolset: 'cli-agent', settings: { ask: 'none' } });
  const { number } = await client.sendCalls(run.id, { calls: [{ tool: 'create_directory', args: { path: 'a' } }] });
  const { steps } = await client.getCalls(run.id, number, { waitS: 30 });
  expect(steps[0]?.result).toMatchObject({ success: true, output: 'Created directory: a' });
  await client.finishRun(run.id);
});
