import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWireServer, type WireServer } from '@holdpoint/models/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finished, nextApproval, type System, startSystem } from '../harness/index.ts';

const calls = [
  use('call_0', 'write_file', { path: 'held.txt', content: 'x' }),
  use('call_0', 'read_file', { path: 'held.txt' }),
  use('__proto__', 'bash', { command: 'echo one >> count.txt' }),
  use('__proto__', 'bash', { command: 'echo two >> count.txt' }),
  use('x\u0000', 'read_file', { path: 'count.txt' }),
  use('', 'edit', { path: 'count.txt', old_string: 'two', new_string: 'three' }),
];

let server: WireServer;
let system: System;
beforeAll(async () => {
  server = await openWireServer(
    { body: JSON.stringify(message(calls, 'tool_use')) },
    { body: JSON.stringify(message([{ type: 'text', text: 'Done.' }], 'end_turn')) },
  );
  system = await startSystem({
    HOLDPOINT_MODEL: 'anthropic/claude-test',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: server.url,
  });
  await system.startWorker();
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test('calls with duplicate or unusable ids hide no call and pass no held call', async () => {
  const { client } = system;
  const { run } = await client.createRun({
    prompt: 'Go.',
    policy: { rules: ['write_file', 'edit'].map((tool) => ({ match: { tool }, action: 'hold' as const })) },
  });
  const file = join(system.tree(run.id), 'count.txt');
  const first = await nextApproval(client, run.id);
  expect(first.action).toMatchObject({ tool: 'write_file', args: { path: 'held.txt', content: 'x' } });
  // No call after the held one has run.
  const before = (await client.listSteps(run.id)).data;
  expect(before.map(({ status }) => status)).toEqual(['parked', ...Array.from({ length: 5 }, () => 'pending')]);
  expect(existsSync(file)).toBe(false);
  await client.decideApproval(first.id, { decision: 'reject', action_digest: first.action_digest });

  const second = await nextApproval(client, run.id);
  expect(second.action).toMatchObject({ tool: 'edit', args: { old_string: 'two' } });
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
  await client.decideApproval(second.id, { decision: 'approve', action_digest: second.action_digest });

  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', message: 'Done.' });
  const steps = (await client.listSteps(run.id)).data;
  expect(steps.map(({ tool, status }) => `${tool} ${status}`)).toEqual([
    ...['write_file rejected', 'read_file failed', 'bash succeeded', 'bash succeeded', 'read_file succeeded'],
    'edit succeeded',
  ]);
  expect(await readFile(file, 'utf8')).toBe('one\nthree\n');

  // The model gets its calls back as it made them, each with its own result.
  const sent = server.requests.at(-1) as { messages: { content: Record<string, unknown>[] }[] };
  const parts = sent.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const made = parts.filter(({ type }) => type === 'tool_use');
  expect(made.map(({ name, input }) => ({ name, input }))).toMatchObject(
    calls.map(({ name, input }) => ({ name, input })),
  );
  const ids = made.map(({ id }) => id);
  expect(new Set(ids).size).toBe(calls.length);
  const results = parts.filter(({ type }) => type === 'tool_result');
  expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
  expect(JSON.stringify(results[4])).toContain('one');
});

function use(id: string, name: string, input: object) {
  return { type: 'tool_use', id, name, input };
}

function message(content: object[], stop_reason: string) {
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-test', content, stop_reason },
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}
