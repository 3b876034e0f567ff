import type { PastTurn } from '@holdpoint/engine/worker';
import type { ModelAnswer } from '@holdpoint/models';
import { openTextThreads } from '@holdpoint/tools';
import { afterAll, expect, test } from 'vitest';
import { readFinalOutput } from './ask-model.ts';
import { tellOfOpenTasks } from './open-tasks.ts';
import { readAnswer } from './read-answer.ts';

const texts = openTextThreads();
afterAll(() => texts.close());

const answer = (more: Partial<ModelAnswer>): ModelAnswer => ({
  ...{ model: 'a/1', text: '', calls: [], finish: 'stop', provider: null },
  usage: { input_tokens: 1, output_tokens: 5 },
  ...more,
});
const turn = (code?: string, message = '', readMessages: string[] = []) =>
  ({ message, readMessages, steps: [], note: code && { code, text: code } }) as unknown as PastTurn;
const read = (more: Partial<ModelAnswer>, past: PastTurn[] = [], hasNews = false) => {
  const given = answer(more);
  return readAnswer({ answer: given, given, usage: given.usage, answered: {}, past, hasNews });
};

test('a cut answer is continued, and the parts are joined', () => {
  expect(read({ text: 'one ', finish: 'length' })).toMatchObject({ kind: 'again', note: { code: 'cut_off' } });
  const past = [turn(), turn('cut_off', 'one '), turn('cut_off', 'two ')];
  expect(read({ text: 'three' }, past)).toMatchObject({ kind: 'finish', message: 'one two three' });
  expect(read({ text: '' }, past)).toMatchObject({ kind: 'finish', message: 'one two ' });
});

test('an answer that is cut five times in a row pauses the run; a message and a resume count from zero', () => {
  const cut = (count: number) => Array.from({ length: count }, () => turn('cut_off', 'x'));
  const kinds = [0, 3, 4, 5, 9].map((count) => read({ text: 'x', finish: 'length' }, cut(count)).kind);
  expect(kinds).toEqual(['again', 'again', 'pause', 'again', 'pause']);
  expect(read({ text: 'x', finish: 'length' }, cut(4), true).kind).toBe('again');
  const spoken = [...cut(3), turn('cut_off', 'x', ['more'])];
  expect(read({ text: 'x', finish: 'length' }, spoken).kind).toBe('again');
});

test('an answer of thoughts alone that is cut says so', () => {
  const decision = read({ finish: 'length' });
  expect(decision).toHaveProperty('note.text', expect.stringContaining('before it had a word'));
});

test('a cut call is made again in smaller pieces', () => {
  const calls = [
    { id: '1', tool: 'read', args: {} },
    { id: '2', tool: 'write', args: '{"a', invalid: 'cut' },
  ];
  expect(read({ calls, finish: 'length' })).toMatchObject({
    kind: 'calls',
    calls: [{ tool: 'read' }, { tool: 'write', error: { code: 'ECUTOFF' } }],
  });
});

test('an empty answer is asked again once, a withheld one pauses; neither fails the run', () => {
  expect(read({ text: ' \n' })).toMatchObject({ kind: 'again', note: { code: 'empty' } });
  expect(read({}, [turn('empty')])).toMatchObject({ kind: 'pause', reason: { code: 'EMODELEMPTY' } });
  expect(read({ finish: 'content_filter' })).toMatchObject({ kind: 'pause', reason: { code: 'EMODELREFUSED' } });
});

const parameters = { properties: { wait_s: {} } };
const tools = { waits: { name: 'task_output', parameters }, ends: { name: 'kill_shell', parameters } };
const finish = { kind: 'finish' as const, message: 'done', answer: 'done' };

test('a model that ends while tasks run reads of each once', () => {
  const tasks = [
    { id: 'task_1', kind: 'shell' as const, title: 'npm start' },
    { id: 'task_2', kind: 'agent' as const, title: 'look' },
  ];
  const told = tellOfOpenTasks(finish, { tasks, past: [], tools });
  if (told.kind !== 'again') throw new Error(told.kind);
  const { text } = told.note;
  for (const part of ['task_1', '"npm start"', 'task_2', 'sub-agent', 'wait_s', 'kill_shell'])
    expect(text).toContain(part);
  const past = [{ ...turn('open_tasks'), note: told.note }, turn()];
  expect(tellOfOpenTasks(finish, { tasks, past, tools })).toBe(finish);
  const more = [...tasks, { id: 'task_3', kind: 'shell' as const, title: 'x' }];
  const again = tellOfOpenTasks(finish, { tasks: more, past, tools: {} });
  expect(again).toHaveProperty('note.text', expect.not.stringMatching(/task_1|task_output/));
});

const schema = {
  type: 'object',
  properties: { n: { type: 'integer' }, kind: { enum: ['a', 'b'] } },
  required: ['n'],
  additionalProperties: false,
};
const final = (message: string, past: PastTurn[] = [], of: object = schema) => {
  const work = texts.of('run', AbortSignal.timeout(60_000));
  return readFinalOutput({ ...finish, message }, { schema: of as typeof schema, past, texts: work });
};

test.for([
  ['alone', '{"n": 1}'],
  ['in a fence', 'Here it is:\n```json\n{"n": 1}\n```\nDone.'],
  ['after a fence of something else', '```sh\nls\n```\n```\n{"n": 1}\n```'],
  ['among words', 'The result is {"n": 1}, as asked.'],
])('a final value is found %s', async ([, text = '']) => {
  expect(await final(text)).toMatchObject({ kind: 'finish', output: { n: 1 }, message: text });
});

test('a value that does not fit is asked for again with each error, three times', async () => {
  const decision = await final('{"n": "1", "kind": "c", "x": 1}');
  if (decision.kind !== 'again') throw new Error(decision.kind);
  expect(decision.note.text).toMatch(/\/n must be integer[\s\S]*\/kind must be equal to one of.*\["a","b"\]/);
  expect(decision.note.text).toContain('additional properties: x');
  expect(await final('no value')).toHaveProperty('note.text', expect.stringContaining('no JSON value'));
  const past = (count: number) => Array.from({ length: count }, () => turn('output_invalid'));
  expect((await final('no', past(2))).kind).toBe('again');
  expect(await final('no', past(3))).toMatchObject({ kind: 'pause', reason: { code: 'EOUTPUTINVALID' } });
});

test('a schema that takes for ever holds no worker up', async () => {
  const twice = { $ref: '#' };
  const endless = { allOf: [{ properties: { a: twice } }, { properties: { a: twice } }] };
  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
  const short = openTextThreads({ deadlineMs: 500 });
  const work = short.of('run', AbortSignal.timeout(60_000));
  const given = { schema: endless, past: [], texts: work };
  expect(await readFinalOutput({ ...finish, message: deep }, given)).toMatchObject({
    kind: 'pause',
    reason: { code: 'EOUTPUTINVALID' },
  });
  await short.close();
});
