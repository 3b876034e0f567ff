import { afterAll, beforeAll, expect, test } from 'vitest';
import { allowBash, finished, type ModelServer, openModelServer, until, useSystem } from '../harness/index.ts';

type Answer = Parameters<typeof openModelServer>[0];
const model = 'openai-compatible/first';
let server: ModelServer;
let answer: Answer;
beforeAll(async () => {
  server = await openModelServer((question) => answer(question));
});
const system = useSystem({
  workers: 0,
  env: () => ({
    HOLDPOINT_MODEL: model,
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    // A killed worker may have had the job.
    HOLDPOINT_LOCK_MS: '2000',
    HOLDPOINT_STALLED_MS: '500',
  }),
});
const { client } = system;
afterAll(() => server[Symbol.asyncDispose]());

const eventsOf = async (runId: string) => (await client.listEvents(runId)).data;
const events = async (runId: string, type: string) => (await eventsOf(runId)).filter((event) => event.type === type);
const stopped = (runId: string) => client.waitForRun(runId, { until: ({ status }) => status === 'paused' });

test('a run waits for its provider without a worker, whatever dies, and continues', async () => {
  let isAway = true;
  answer = () => (isAway ? { refusal: 503 } : { text: 'done' });
  const first = await system.startWorker();
  const { run } = await client.createRun({ prompt: 'wait' });
  await until('it waits', async () => (await client.getRun(run.id)).model_wait !== null);
  await first.signal('SIGKILL');
  const waiting = await client.getRun(run.id);
  expect(waiting).toMatchObject({
    status: 'waiting',
    model_wait: { model, next: model, failures: expect.any(Number) },
  });
  expect(waiting.model_wait?.reason.code).toBe('EMODELUNAVAILABLE');
  const second = await system.startWorker();
  const asked = server.questions.length;
  await until('it was asked again', () => server.questions.length > asked);
  isAway = false;
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', message: 'done', model_wait: null });
  const types = (await eventsOf(run.id)).map(({ type }) => type);
  expect(types.filter((type) => type === 'run.waiting')).toHaveLength(1);
  expect(types.slice(-3)).toEqual(['run.resumed', 'turn.planned', 'run.succeeded']);
  expect((await events(run.id, 'model.retrying')).length).toBe(server.questions.length - 1);
  await second.signal('SIGTERM');
});

test('with a worker: fallbacks, another model, output limits and values', async () => {
  const worker = await system.startWorker();

  // A wrong key leads to the next model at once.
  answer = (question) => (question.model === 'first' ? { refusal: 401 } : { text: 'by the second' });
  const second = 'openai-compatible/second';
  const fallback = await client.createRun({ prompt: 'ask', fallbacks: [second] });
  expect(await finished(client, fallback.run.id)).toMatchObject({ status: 'succeeded', message: 'by the second' });
  const [planned] = await events(fallback.run.id, 'turn.planned');
  expect(planned).toMatchObject({ data: { answered: { asked: second, model: 'second' } } });

  // Without another one the run pauses, and a person changes the model.
  const { run } = await client.createRun({ prompt: 'ask', options: { max_output_tokens: 321 } });
  expect(await stopped(run.id)).toMatchObject({ reason: { code: 'EMODELAUTH' } });
  await expect(client.resumeRun(run.id, { model: 'unknown/x' })).rejects.toMatchObject({
    code: 'invalid_model_name',
    errors: [{ pointer: '/model' }],
  });
  await client.resumeRun(run.id, { model: second });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded', model: second });
  expect(server.questions.at(-1)).toMatchObject({ model: 'second', maxTokens: 321 });

  // A cut answer is continued.
  answer = ({ said }) => (said.includes('cut off') ? { text: 'second half' } : { text: 'first half, ', cut: true });
  const cut = await client.createRun({ prompt: 'tell' });
  expect(await finished(client, cut.run.id)).toMatchObject({ status: 'succeeded', message: 'first half, second half' });

  // An empty answer is asked again once.
  answer = () => ({ text: '' });
  const empty = await client.createRun({ prompt: 'tell' });
  expect(await stopped(empty.run.id)).toMatchObject({ turn: 2, reason: { code: 'EMODELEMPTY' } });
  answer = ({ said }) => ({ text: said });
  await client.sendMessage(empty.run.id, 'say more');
  await client.resumeRun(empty.run.id);
  expect(await finished(client, empty.run.id)).toMatchObject({ status: 'succeeded', message: 'say more' });

  // A value that does not fit is asked for again.
  answer = ({ said }) => ({ text: said.includes('/n must be integer') ? '```json\n{"n": 7}\n```' : '{"n": "7"}' });
  const output_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const typed = await client.createRun({ prompt: 'count', output_schema });
  expect(await finished(client, typed.run.id)).toMatchObject({ status: 'succeeded', turn: 2 });
  expect((await client.getRun(typed.run.id)).output).toEqual({ n: 7 });
  await expect(client.createRun({ prompt: 'count', output_schema: { type: 'wrong' } })).rejects.toMatchObject({
    code: 'invalid_output_schema',
    errors: [{ pointer: '/output_schema' }],
  });

  // A model that ends reads once what still runs.
  const sleeps = { calls: [{ tool: 'bash', args: { command: 'sleep 1000', run_in_background: true } }] };
  answer = ({ results }) => (results.length === 0 ? sleeps : { text: 'done' });
  const open = await client.createRun({ prompt: 'serve', policy: { rules: [allowBash] } });
  expect(await finished(client, open.run.id)).toMatchObject({ status: 'succeeded', turn: 3 });
  const notes = (await events(open.run.id, 'turn.planned')).map((event) =>
    event.type === 'turn.planned' ? event.data.note : undefined,
  );
  const [task] = await client.listTasks(open.run.id);
  expect(notes).toEqual([undefined, { code: 'open_tasks', text: expect.stringContaining(task?.id ?? '?') }, undefined]);
  expect(notes[1]?.text).toMatch(/"sleep 1000"[\s\S]*task_output[\s\S]*kill_shell/);
  await worker.signal('SIGTERM');
});
