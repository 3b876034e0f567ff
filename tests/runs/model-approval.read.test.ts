import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approve, finished, nextApproval, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem();
const { client } = system;

const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });

/** The results in the last request about `topic`, by call. aimock stores requests in the OpenAI format. */
function resultsSent(topic: string): Record<string, string> {
  const bodies = mock.getRequests().map((entry) => entry.body as unknown as { messages: { tool_call_id?: string }[] });
  const last = bodies.findLast((body) => JSON.stringify(body).includes(topic));
  const results = (last?.messages ?? []).filter(({ tool_call_id }) => tool_call_id !== undefined);
  return Object.fromEntries(results.map((message) => [message.tool_call_id, JSON.stringify(message)]));
}

test('calls with one id each run once, in order, and get their own result', async () => {
  mock.on(
    { userMessage: 'one id for all', hasToolResult: false },
    {
      content: 'Four calls.',
      toolCalls: [
        call('call_0', 'bash', { command: 'echo FIRST >> f.txt' }),
        call('call_0', 'read_file', { path: 'f.txt' }),
        call('call_0', 'bash', { command: 'echo SECOND >> f.txt' }),
        call('call_0', 'glob', { pattern: '*.txt' }),
      ],
    },
  );
  mock.on({ userMessage: 'one id for all', hasToolResult: true }, { content: 'Done.' });
  const { run } = await client.createRun({ prompt: 'Please use one id for all.' });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', turn: 2 });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map(({ tool, status }) => [tool, status])).toEqual([
    ['bash', 'succeeded'],
    ['read_file', 'succeeded'],
    ['bash', 'succeeded'],
    ['glob', 'succeeded'],
  ]);
  expect(await readFile(join(system.tree(run.id), 'f.txt'), 'utf8')).toBe('FIRST\nSECOND\n');
  const sent = Object.values(resultsSent('one id for all'));
  expect(sent).toHaveLength(4);
  expect(sent[1]).toContain('FIRST');
  expect(sent[1]).not.toContain('SECOND');
  expect(sent[3]).toContain('f.txt');
});

test('the model reads the edited call; the approval keeps the original', async () => {
  mock.on(
    { userMessage: 'change my words', hasToolResult: false },
    {
      content: 'Two calls.',
      toolCalls: [
        call('call_a', 'write_file', { path: 'a.txt', content: 'mine\n' }),
        call('call_b', 'write_file', { path: 'b.txt', content: 'mine too\n' }),
      ],
    },
  );
  mock.on({ userMessage: 'change my words', hasToolResult: true }, { content: 'Seen.' });
  const { run } = await client.createRun({
    prompt: 'Please let me change my words.',
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
  });
  const first = await nextApproval(client, run.id);
  const asked = { path: 'a.txt', content: 'mine\n', create_only: false };
  expect(first).toMatchObject({ action: { args: asked }, decision: null });
  const args = { path: 'a.txt', content: 'theirs\n' };
  await client.decideApproval(first.id, {
    decision: 'edit',
    action_digest: first.action_digest,
    args,
    message: 'shorter, please',
  });
  const second = await nextApproval(client, run.id);
  await approve(client, second, 'fine, but hurry');
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(run.id), 'a.txt'), 'utf8')).toBe('theirs\n');

  const sent = resultsSent('change my words');
  expect(sent.call_a).toContain('A person changed the arguments before it ran');
  const ran = JSON.stringify({ ...args, create_only: false });
  expect(sent.call_a).toContain(JSON.stringify(ran).slice(1, -1));
  expect(sent.call_a).toContain('They say: shorter, please');
  expect(sent.call_b).toContain('A person approved this call. They say: fine, but hurry');

  const shown = await client.getApproval(first.id);
  expect(shown).toMatchObject({
    status: 'edited',
    action: { args: asked },
    preview: first.preview,
    action_digest: first.action_digest,
    decision: {
      decision: 'edit',
      args: { ...args, create_only: false },
      message: 'shorter, please',
      by: 'admin',
    },
  });
  expect(await client.getApproval(second.id)).toMatchObject({ decision: { decision: 'approve', args: null } });
});
