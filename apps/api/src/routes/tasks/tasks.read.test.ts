import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const wait = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };

/** A run with background commands, which then waits for a decision. */
async function running(...commands: string[]): Promise<string> {
  const begin = commands.map((command) => ({ tool: 'bash', args: { command, run_in_background: true } }));
  const last = { tool: 'write_file', args: { path: 'a', content: 'a' } };
  const plan = { groups: [...begin.map((step) => ({ steps: [step] })), { steps: [last] }] };
  const { id } = (await api.client.createRun({ plan, policy: wait })).run;
  await worker.drive(id);
  return id;
}

test('a background command is listed from its beginning, and its output is there when it is over', async () => {
  const id = await running('echo one; echo two >&2; printf %070000d 0; exit 3');
  const [queued] = await api.client.listTasks(id);
  expect(queued).toMatchObject({ run_id: id, kind: 'shell', status: 'queued', exit_code: null, child: null });
  expect((await api.client.getRun(id)).open_tasks).toBe(1);
  await worker.background(id);
  const task = await api.client.getTask(queued?.id ?? '');
  expect(task).toMatchObject({ status: 'failed', exit_code: 3, step_id: expect.stringMatching(/^step_/) });
  expect(task.title).toMatch(/^echo one/);
  const first = await api.client.readTaskOutput(task.id, { max_bytes: 4 });
  expect(first).toEqual({ status: 'failed', text: 'one\n', next_cursor: 4, total_bytes: 70_004, omitted_bytes: 0 });
  const rest = await api.client.readTaskOutput(task.id, { cursor: 4, max_bytes: 1_000_000 });
  expect(rest).toMatchObject({ text: '0'.repeat(70_000), next_cursor: 70_004 });
  expect(await api.client.readTaskOutput(task.id, { stream: 'stderr' })).toMatchObject({ text: 'two\n' });
  // Nothing more will come: it does not wait for it.
  expect(await api.client.readTaskOutput(task.id, { cursor: 70_004, wait_s: 60 })).toMatchObject({ text: '' });
});

test('a client that waits for output is answered at the end', async () => {
  const id = await running('true');
  const [task] = await api.client.listTasks(id);
  const told = api.client.readTaskOutput(task?.id ?? '', { wait_s: 60 });
  await worker.background(id);
  expect(await told).toMatchObject({ status: 'completed', text: '' });
});

test('a task killed before its begin never runs; a second kill changes nothing', async () => {
  const id = await running('touch never', 'touch other');
  const [task] = await api.client.listTasks(id);
  expect(await api.client.killTask(task?.id ?? '')).toMatchObject({ status: 'queued' });
  await worker.background(id);
  const killed = { status: 'killed', exit_code: null, reason: { code: 'EKILLED' } };
  expect(await api.client.getTask(task?.id ?? '')).toMatchObject(killed);
  expect((await api.client.listTasks(id)).map(({ status }) => status)).toEqual(['killed', 'completed']);
  const before = await contentOf(api.engine);
  expect(await api.client.killTask(task?.id ?? '')).toMatchObject(killed);
  expect(await contentOf(api.engine)).toEqual(before);
});

test.each([
  ['GET', '/v1/runs/run_x/tasks', 404, 'run_not_found'],
  ['GET', '/v1/tasks/task_x', 404, 'task_not_found'],
  ['GET', '/v1/tasks/task_x/output', 404, 'task_not_found'],
  ['POST', '/v1/tasks/task_x/kill', 404, 'task_not_found'],
  ['GET', '/v1/tasks/task_x/output?stream=both', 422, 'invalid_request'],
  ['GET', '/v1/tasks/task_x/output?cursor=-1', 422, 'invalid_request'],
  ['GET', '/v1/tasks/task_x/output?wait_s=61', 422, 'invalid_request'],
])('%s %s is %i %s', async (method, path, status, code) => {
  expect(await problemOf(await api.send(path, { method }))).toMatchObject({ status, code });
});

test('what was stuck, and what stands still, can be asked for', async () => {
  const id = await running();
  await api.client.pauseRun(id);
  const stuck = await api.client.stuck();
  expect(stuck.repairs).toEqual({});
  expect(stuck.paused).toMatchObject({ paused_by_hand: 1 });
  expect(stuck.runs.paused).toBe(1);
});
