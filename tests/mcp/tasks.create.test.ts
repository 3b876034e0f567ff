import { beforeAll, expect, test } from 'vitest';
import { approve, finished, nextApproval, useModelSystem } from '../harness/index.ts';
import { type Asking, ask } from './ask.ts';

const { mock, system } = useModelSystem();
const { client } = system;
let follower: Asking;

const keyWith = async (...scopes: ('runs:read' | 'runs:write' | 'approvals:read')[]) =>
  (await client.createKey({ name: `follower ${scopes.length}`, kind: 'agent', scopes })).key;

beforeAll(async () => {
  const key = await keyWith('runs:read', 'runs:write', 'approvals:read');
  follower = { url: system.api.url(), key, followsTasks: true };
});

const bash = (command: string) => ({ id: 'call_1', name: 'bash', arguments: JSON.stringify({ command }) });

function script(topic: string, command: string): void {
  mock.on({ userMessage: topic, hasToolResult: false }, { content: 'One call.', toolCalls: [bash(command)] });
  mock.on({ userMessage: topic, hasToolResult: true }, { content: `Done with ${topic}.` });
}

const submit = (as: Asking, prompt: string, more: object = {}) =>
  ask(as, 'tools/call', { name: 'submit_run', arguments: { prompt, ...more } });
const get = (as: Asking, taskId: string) => ask(as, 'tasks/get', { taskId });

/** A run with a step that waits for a person, submitted as a task. */
async function heldTask(topic: string, more: object = {}) {
  script(topic, 'rm -rf old');
  const { result } = await submit(follower, topic, more);
  const taskId = result?.taskId ?? '';
  return { taskId, created: result, approval: await nextApproval(client, taskId) };
}

test('a run is a task: working while a person is awaited, at any API process, across a killed one', async () => {
  const { taskId, created, approval } = await heldTask('a followed task', { request_id: 'followed' });
  expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
  expect(created).not.toHaveProperty('result');
  const address = `${follower.url}/approvals/${approval.id}`;
  const waiting = { taskId, status: 'working', statusMessage: expect.stringContaining(address) };
  expect((await get(follower, taskId)).result).toMatchObject(waiting);
  expect((await submit(follower, 'a followed task', { request_id: 'followed' })).result).toMatchObject(waiting);
  const waited = await ask(follower, 'tools/call', { name: 'wait_for_run', arguments: { run_id: taskId } });
  expect(waited.result).toMatchObject({ resultType: 'task', ...waiting });

  const other = await system.startOtherApi();
  const elsewhere = await get({ ...follower, url: String(other.ready.address) }, taskId);
  expect(elsewhere.result).toMatchObject({ taskId, status: 'working' });
  await system.api.kill();
  await system.api.start();
  const before = (await get(follower, taskId)).result;
  expect(before).toMatchObject(waiting);

  await approve(client, approval);
  await finished(client, taskId);
  const done = (await get(follower, taskId)).result;
  expect(done).toMatchObject({
    ...{ resultType: 'complete', taskId, status: 'completed', createdAt: before?.createdAt },
    result: { structuredContent: { status: 'succeeded', answer: 'Done with a followed task.' } },
  });
  expect(Date.parse(done?.lastUpdatedAt ?? '')).toBeGreaterThan(Date.parse(before?.lastUpdatedAt ?? ''));
  // A run that has ended is its own result.
  const again = await ask(follower, 'tools/call', { name: 'wait_for_run', arguments: { run_id: taskId } });
  expect(again.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'succeeded' } });
  expect(again.result).not.toHaveProperty('taskId');
});

test('tasks/cancel needs the scope of cancel_run, ends the run, and is acknowledged again afterwards', async () => {
  const { taskId } = await heldTask('a cancelled task');
  const reader = { ...follower, key: await keyWith('runs:read') };
  expect((await ask(reader, 'tasks/cancel', { taskId })).error?.message).toContain('missing_scope');
  // A key without approvals:read gets the page of the run.
  expect((await get(reader, taskId)).result).toMatchObject({
    status: 'working',
    statusMessage: `Waits for a person at ${follower.url}/runs/${taskId}`,
  });
  for (const _ of ['working', 'cancelled']) {
    const { result } = await ask(follower, 'tasks/cancel', { taskId });
    expect(result).toMatchObject({ resultType: 'complete' });
    expect(result).not.toHaveProperty('status');
    await finished(client, taskId);
  }
  const ended = (await get(follower, taskId)).result;
  expect(ended).toMatchObject({ status: 'cancelled' });
  expect(ended).not.toHaveProperty('result');
});

test('a failed run is a completed task with an error in its result', async () => {
  const { run } = await client.createRun({
    plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'exit 3' } }] }] },
  });
  expect((await finished(client, run.id)).status).toBe('failed');
  expect((await get(follower, run.id)).result).toMatchObject({
    status: 'completed',
    result: { isError: true, structuredContent: { status: 'failed' } },
  });
});

test('tasks/update decides nothing, whatever it says', async () => {
  const { taskId, approval } = await heldTask('an updated task');
  for (const inputResponses of [
    {},
    { [approval.id]: { action: 'accept', content: { decision: 'approve', action_digest: approval.action_digest } } },
  ]) {
    const { error } = await ask(follower, 'tasks/update', { taskId, inputResponses });
    expect(error?.message).toContain(`/approvals/${approval.id}`);
  }
  expect((await client.getApproval(approval.id)).status).toBe('pending');
  await ask(follower, 'tasks/cancel', { taskId });
});

test('the task of another tenant is unknown to every method, and so is an id that names nothing', async () => {
  const { taskId } = await heldTask('a private task');
  const scopes = ['runs:read', 'runs:write', 'approvals:read'] as const;
  const { key } = await client.createKey({ name: 'eve', kind: 'agent', tenant: 'other', scopes: [...scopes] });
  for (const [as, id] of [
    [{ ...follower, key }, taskId],
    [follower, 'run_none'],
    [follower, '../keys'],
  ] as const) {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await ask(as, method, { taskId: id, inputResponses: {} });
      expect(error, `${method} ${id}`).toMatchObject({ code: -32602, message: expect.stringContaining('not_found') });
    }
  }
  expect((await get(follower, taskId)).result?.status).toBe('working');
  await ask(follower, 'tasks/cancel', { taskId });
});

test('a client that does not declare the extension sees no task', async () => {
  script('a plain task', 'true');
  const plain = { ...follower, followsTasks: false };
  const { result } = await submit(plain, 'a plain task');
  expect(result).toMatchObject({ resultType: 'complete' });
  expect(result).not.toHaveProperty('taskId');
  const { run_id } = result?.structuredContent ?? {};
  const waited = await ask(plain, 'tools/call', { name: 'wait_for_run', arguments: { run_id } });
  expect(waited.result).toMatchObject({ resultType: 'complete', structuredContent: { changed: true } });
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const { error } = await ask(plain, method, { taskId: run_id, inputResponses: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { extensions: {} } } });
  }
  // The revision 2025-11-25 has tasks of another kind, which this server does not have.
  const legacy = await fetch(new URL('/mcp', follower.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${follower.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: run_id } }),
  });
  expect(await legacy.text()).toContain('-32601');
});
