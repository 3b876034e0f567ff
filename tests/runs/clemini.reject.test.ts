import type { Json } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { useSharedSystem } from '../harness/index.ts';

const system = useSharedSystem();
const patience = 60_000;

/** An open run, and its person, who decides what is asked. */
async function openRun() {
  const { client } = system;
  const path = await system.directoryWith({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { run } = await client.createRun({
    ...{ open: true, toolset: 'clemini', workspace: { source: { type: 'directory', path } } },
  });
  const send = async (tool: string, args: Record<string, Json>) =>
    (await client.sendCalls(run.id, { calls: [{ tool, args }] })).number;
  const settled = async (number: number): Promise<Json> => {
    const signal = AbortSignal.timeout(patience);
    for (;;) {
      const [step] = (await client.getCalls(run.id, number, { waitS: 10, signal })).steps;
      if (step?.result !== null && step !== undefined) return step.result;
    }
  };
  const answer = async (decision: 'approve' | 'reject' | 'respond', message?: string) => {
    const signal = AbortSignal.timeout(patience);
    await client.waitForRun(run.id, { until: ({ pending_approvals }) => pending_approvals > 0, signal });
    const [approval] = (await client.listApprovals({ run_id: run.id })).data;
    if (approval === undefined) throw new Error('nothing is asked');
    await client.decideApproval(approval.id, { decision, action_digest: approval.action_digest, message });
  };
  return {
    make: async (tool: string, args: Record<string, Json>) => settled(await send(tool, args)),
    async makeAsked(
      tool: string,
      args: Record<string, Json>,
      decision: Parameters<typeof answer>[0],
      message?: string,
    ) {
      const number = await send(tool, args);
      await answer(decision, message);
      return settled(number);
    },
    finish: () => client.finishRun(run.id),
  };
}

// covers S3-74, S3-75, S3-76
test('a model cannot confirm a command for itself', async () => {
  const { make, makeAsked, finish } = await openRun();
  const command = 'chmod 600 a.txt';
  const blocked = { error_code: 'BLOCKED', error: expect.stringMatching(/confirmed before it was flagged/) };
  expect(await make('bash', { command, confirmed: true })).toMatchObject(blocked);
  expect(await make('bash', { command, description: 'Locks it' })).toMatchObject({ needs_confirmation: true });
  expect(await make('bash', { command: 'chmod 600 b.txt', confirmed: true })).toMatchObject(blocked);
  expect(await make('bash', { command, confirmed: true, description: 'Locks it' })).toMatchObject({ exit_code: 0 });
  // The policy holds a deletion, and its approval is for the confirmed call.
  const remove = { command: 'rm b.txt', confirmed: true };
  expect(await makeAsked('bash', remove, 'reject')).toMatchObject({ error_code: 'BLOCKED' });
  expect(await makeAsked('bash', remove, 'approve')).toMatchObject({ exit_code: 0 });
  expect(await make('bash', { command: 'rm -rf /', confirmed: true })).toMatchObject({
    error_code: 'BLOCKED',
    error: expect.stringMatching(/^Command blocked: recursive delete on root\. /),
  });
  expect(await make('glob', { pattern: '*' })).toMatchObject({ matches: ['a.txt'] });
  // What another run flagged counts for that run alone.
  const other = await openRun();
  expect(await other.make('bash', { command, confirmed: true, description: 'Locks it' })).toMatchObject(blocked);
  await Promise.all([finish(), other.finish()]);
});

// covers S3-72, S3-81, S3-85, S3-86, S3-95
test('a background command is read, waited for and ended; a person answers by number', async () => {
  const { make, makeAsked, finish } = await openRun();
  const begin = async (command: string) => {
    const { task_id } = (await make('bash', { command, run_in_background: true })) as { task_id: string };
    return task_id;
  };
  const failing = await begin('echo out; echo err >&2; exit 3');
  expect(await make('task_output', { task_id: failing, wait: true })).toEqual({
    ...{ task_id: failing, status: 'completed', exit_code: 3, stdout: 'out\n', stderr: 'err\n' },
    reason: expect.any(String),
  });
  expect(await make('kill_shell', { task_id: failing })).toMatchObject({ status: 'already_completed', success: true });
  const long = await begin('echo begun; sleep 600');
  expect(await make('task_output', { task_id: long, wait: true, timeout: 1 })).toMatchObject({ status: 'running' });
  expect(await make('kill_shell', { task_id: long })).toMatchObject({ status: 'killed' });
  expect(await make('task_output', { task_id: long })).toMatchObject({ status: 'killed', stdout: 'begun\n' });
  const question = { question: 'Which?', options: ['PostgreSQL', 'MySQL'] };
  expect(await makeAsked('ask_user', question, 'respond', '2')).toEqual({ answer: 'MySQL' });
  await finish();
});
