import { expect, test } from 'vitest';
import { approve, finished, nextApproval, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem();
const { client } = system;

const turns = 10;
const callsPerTurn = 5;

test('a model that describes 50 calls in other words each time, and gives them other time limits, is answered by one decision', async () => {
  for (let turn = 0; turn < turns; turn++) {
    const toolCalls = Array.from({ length: callsPerTurn }, (_, at) => {
      const number = turn * callsPerTurn + at;
      const args = { command: 'git status', description: `Look again (${number})`, timeout_seconds: 30 + number };
      return { id: `call_${number}`, name: 'bash', arguments: JSON.stringify(args) };
    });
    mock.on({ userMessage: 'look often', turnIndex: turn }, { content: `Look ${turn}.`, toolCalls });
  }
  mock.on({ userMessage: 'look often', turnIndex: turns }, { content: 'Done.' });
  const { run } = await client.createRun({
    prompt: 'Please look often.',
    toolset: 'clemini',
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  const asked = await nextApproval(client, run.id);
  expect(asked.remembers).toMatchObject({ leaves_out: ['description', 'timeout_seconds'] });
  await client.decideApproval(asked.id, {
    ...{ decision: 'approve', action_digest: asked.action_digest, remember: 'run' },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const { data } = await client.listApprovals({ run_id: run.id, status: ['approved'], limit: 200 });
  expect(data).toHaveLength(turns * callsPerTurn);
  expect(data.filter(({ decision }) => decision?.rule_id === null)).toHaveLength(1);
  const [rule] = (await client.listRules({ run_id: run.id })).data;
  expect(rule).toMatchObject({ leaves_out: ['description', 'timeout_seconds'], args: { command: 'git status' } });
});

test('a command that writes is asked about again under another time limit, and not under another description', async () => {
  const say = 'write often';
  const args = { command: 'sleep 0.1; touch x', description: 'first', timeout_seconds: 30 };
  const calls = [args, { ...args, description: 'second' }, { ...args, timeout_seconds: 31 }];
  for (const [turn, each] of calls.entries()) {
    const toolCalls = [{ id: `w${turn}`, name: 'bash', arguments: JSON.stringify(each) }];
    mock.on({ userMessage: say, turnIndex: turn }, { content: 'Write.', toolCalls });
  }
  mock.on({ userMessage: say, turnIndex: calls.length }, { content: 'Done.' });
  const { run } = await client.createRun({
    prompt: `Please ${say}.`,
    toolset: 'clemini',
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  const asked = await nextApproval(client, run.id);
  expect(asked.remembers).toMatchObject({ leaves_out: ['description'] });
  await client.decideApproval(asked.id, {
    ...{ decision: 'approve', action_digest: asked.action_digest, remember: 'run' },
  });
  const again = await nextApproval(client, run.id);
  expect(again.action.args).toMatchObject({ timeout_seconds: 31 });
  await approve(client, again);
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
});
