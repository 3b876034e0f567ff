import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

const usage = { input_tokens: 120, output_tokens: 30, cached_input_tokens: 100, cost_micros: 2500 };
const answered = { provider: 'anthropic', model: 'some-model-1', id: 'msg_1', finish_reason: 'tool_calls' };
const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'a\n' } });

/** Longer than what the log keeps itself. */
const instructed = {
  system: 'Work carefully. '.repeat(4000),
  files: [{ path: 'AGENTS.md', bytes: 5 }],
  environment: { date: '2026-07-01' },
};

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi({ publicationWaitMs: 1 });
  worker = testWorker(api.engine, api.dataDir, {
    async next({ turn, history, spec }) {
      const { instructed: known } = await history();
      if (spec.labels.instruct !== undefined && known === undefined) return { kind: 'instructed', instructed };
      if (turn === 1)
        return { kind: 'calls', message: 'I write two files.', calls: [write('a'), write('b')], usage, answered };
      if (turn === 2)
        return { kind: 'calls', message: '', calls: [write('c')], usage: { input_tokens: 1, output_tokens: 2 } };
      return { kind: 'finish', message: 'Both are written.', answer: 'Both are written.' };
    },
  });
});
afterAll(() => api.stop());

const modelRun = async () => (await api.client.createRun({ prompt: 'Write', model: 'ollama/any' })).run.id;

test('a turn has the words of the model, its steps, tokens, cost and times, and what people wrote before it', async () => {
  const id = await modelRun();
  await worker.plan(id);
  const sent = await api.client.sendMessage(id, 'Be quick');
  await worker.drive(id);
  const { data, has_more, next_cursor } = await api.client.listTurns(id);
  expect([data.length, has_more, next_cursor]).toEqual([3, false, null]);
  const steps = (await api.client.listSteps(id)).data.map((step) => step.id);
  const { data: events } = await api.client.listEvents(id);
  expect(data[0]).toEqual({
    ...{ run_id: id, turn: 1, seq: events.find(({ type }) => type === 'turn.planned')?.seq },
    ...{ message: 'I write two files.', messages: [], messages_read: 0, steps: steps.slice(0, 2) },
    ...{ refused: null, note: null, answered, undone: false },
    usage: { input_tokens: 120, output_tokens: 30, cached_input_tokens: 100, cost_usd: 0.0025 },
    asked_at: expect.any(String),
    planned_at: expect.any(String),
  });
  expect(data[1]).toMatchObject({
    messages: [{ id: sent.message_id, by: expect.any(String), text: 'Be quick', at: expect.any(String) }],
    ...{ messages_read: 1, steps: steps.slice(2), usage: { cost_usd: null } },
  });
  expect(data[2]).toMatchObject({ turn: 3, message: 'Both are written.', steps: [], usage: null });
});

test('a turn that an undo removed says so, and its number comes again', async () => {
  const id = await modelRun();
  await worker.plan(id);
  // The second write passes the gate when the first is settled.
  await worker.execute(id);
  await worker.execute(id);
  await worker.plan(id);
  await worker.execute(id);
  await api.client.pauseRun(id);
  await api.client.undoSteps(id, { to_step: 2 });
  await worker.tend(id);
  await api.client.resumeRun(id);
  await worker.drive(id);
  const turns = (await api.client.listTurns(id)).data.map(({ turn, undone }) => [turn, undone]);
  expect(turns).toEqual([
    [1, false],
    [2, true],
    [2, false],
    [3, false],
  ]);
});

test('come in pages, from both ends', async () => {
  const id = await modelRun();
  await worker.drive(id);
  const { data: all } = await api.client.listTurns(id);
  for (const order of ['asc', 'desc'] as const) {
    const first = await api.client.listTurns(id, { order, limit: 2 });
    const second = await api.client.listTurns(id, { order, limit: 2, cursor: first.next_cursor ?? '' });
    expect([...first.data, ...second.data]).toEqual(order === 'asc' ? all : all.toReversed());
    expect([first.has_more, second.has_more]).toEqual([true, false]);
  }
});

test('a page ends at 1 MiB of messages, and the next begins behind it', async () => {
  const long = testWorker(api.engine, api.dataDir, {
    next: async ({ turn }) =>
      turn === 4
        ? { kind: 'finish', message: 'done', answer: 'done' }
        : { kind: 'calls', message: `${turn}`.repeat(600_000), calls: [write('a')] },
  });
  const id = await modelRun();
  await long.drive(id);
  const lengths: number[][] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await api.client.listTurns(id, { cursor });
    lengths.push(page.data.map(({ message }) => message.length));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(lengths).toEqual([[600_000], [600_000], [600_000, 4]]);
});

test.each(['limit=0', 'limit=501', 'cursor=x', 'order=up'])('refuses %s and names the place', async (query) => {
  const id = await modelRun();
  const problem = await problemOf(await api.send(`/v1/runs/${id}/turns?${query}`));
  expect(problem).toMatchObject({ code: 'invalid_request', status: 422, errors: [{ pointer: query.split('=')[0] }] });
});

test('a run without turns has none; an unknown run is 404', async () => {
  expect(await api.client.listTurns(await modelRun())).toEqual({ data: [], next_cursor: null, has_more: false });
  await expect(api.client.listTurns('run_x')).rejects.toMatchObject({ code: 'run_not_found' });
});

test('the instructions are as they were recorded, and null before', async () => {
  const { run } = await api.client.createRun({ prompt: 'Write', model: 'ollama/any', labels: { instruct: 'yes' } });
  const nothing = { run_id: run.id, system: null, files: [], agents: [], environment: {} };
  expect(await api.client.readInstructions(run.id)).toEqual(nothing);
  await worker.drive(run.id);
  expect(await api.client.readInstructions(run.id)).toEqual({ run_id: run.id, agents: [], ...instructed });
});
