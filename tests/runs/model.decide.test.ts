import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finished, nextApproval } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';

let mock: LLMock;
let system: System;
beforeAll(async () => {
  mock = await LLMock.create({ port: 0, host: '127.0.0.1' });
  system = await startSystem({
    HOLDPOINT_MODEL: 'anthropic/claude-test',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: mock.url,
  });
  await system.startWorker();
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await mock.stop();
});

const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });

/** The results that the model was sent last, by call. aimock keeps requests in the form of OpenAI. */
function resultsSent(word: string): Record<string, string> {
  const bodies = mock.getRequests().map((entry) => entry.body as unknown as { messages: { tool_call_id?: string }[] });
  const last = bodies.findLast((body) => JSON.stringify(body).includes(word));
  const results = (last?.messages ?? []).filter(({ tool_call_id }) => tool_call_id !== undefined);
  return Object.fromEntries(results.map((message) => [message.tool_call_id, JSON.stringify(message)]));
}

test('calls under one id are the calls that the model made: each runs once, in order, and gets its own result', async () => {
  const { client } = system;
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

test('the model reads what ran in place of its call, and what the person said; the approval keeps what was asked', async () => {
  const { client } = system;
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
    ...{ decision: 'edit', action_digest: first.action_digest, args, message: 'shorter, please' },
  });
  const second = await nextApproval(client, run.id);
  await client.decideApproval(second.id, {
    ...{ decision: 'approve', action_digest: second.action_digest, message: 'fine, but hurry' },
  });
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
    ...{ status: 'edited', action: { args: asked }, preview: first.preview, action_digest: first.action_digest },
    decision: {
      decision: 'edit',
      args: { ...args, create_only: false },
      message: 'shorter, please',
      by: 'the operator',
    },
  });
  expect(await client.getApproval(second.id)).toMatchObject({ decision: { decision: 'approve', args: null } });
});
