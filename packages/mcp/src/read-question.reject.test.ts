import { expect, test } from 'vitest';
import { againWith, readQuestion } from './read-question.ts';

const about = { server: 'shop', tool: 'order', round: 1 };
const elicit = (requestedSchema: object, message = 'Which?') => ({
  resultType: 'input_required' as const,
  inputRequests: { a: { method: 'elicitation/create' as const, params: { mode: 'form', message, requestedSchema } } },
});
const form = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const read = (result: object, round = 1) =>
  readQuestion(result as Parameters<typeof readQuestion>[0], { ...about, round });
const refusal = (result: object, round = 1): { code: string; message: string } => {
  try {
    read(result, round);
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('it was taken');
};

test('a flat form becomes fields, in each way the protocol writes a choice', () => {
  const properties = {
    name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, format: 'email' },
    pin: { type: 'integer', minimum: 1, maximum: 5 },
    sure: { type: 'boolean', default: false },
    one: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    two: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
    three: { type: 'array', minItems: 1, items: { anyOf: [{ const: 'a', title: 'A' }] } },
    token: { type: 'string', format: 'unknown' },
  };
  expect(read(elicit(form(properties, ['name']))).question.requests[0]?.fields).toEqual([
    { name: 'name', title: 'Name', required: true, type: 'text', min_length: 1, max_length: 9, format: 'email' },
    { name: 'pin', required: false, type: 'integer', minimum: 1, maximum: 5 },
    { name: 'sure', required: false, type: 'boolean' },
    {
      ...{ name: 'one', required: false, type: 'choice' },
      options: [
        { value: 'a', title: 'A' },
        { value: 'b', title: 'B' },
      ],
    },
    { name: 'two', required: false, type: 'choice', options: [{ value: 'a', title: 'A' }] },
    { name: 'three', required: false, type: 'choices', options: [{ value: 'a', title: 'A' }], min_items: 1 },
    { name: 'token', required: false, type: 'text', secret: true },
  ]);
});

test.each<[string, object]>([
  [
    'more than 20 values',
    elicit(form(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`p${at}`, { type: 'string' }])))),
  ],
  ['no text, number, boolean or choice', elicit(form({ a: { type: 'object', properties: {} } }))],
  ['no text, number, boolean or choice', elicit(form({ a: { type: 'string', enum: 'abc' } }))],
  ['requires a value that it does not describe', elicit(form({}, ['a']))],
  ['its schema is no object', elicit({ type: 'string' })],
  ['form that is not known', elicit(form({ a: { type: 'string', enum: Array.from({ length: 51 }, String) } }))],
  ['form that is not known', elicit(form({ ['n'.repeat(101)]: { type: 'string' } }))],
  ['too deep', elicit(JSON.parse(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`))],
  ['8 KiB', elicit(form({}), 'ä'.repeat(5000))],
  [
    'more than 5 questions',
    {
      inputRequests: Object.fromEntries(
        Array.from({ length: 6 }, (_, at) => [`k${at}`, elicit(form({})).inputRequests.a]),
      ),
    },
  ],
  ['64 KiB', { ...elicit(form({})), requestState: 'ä'.repeat(40_000) }],
  ['for roots/list', { inputRequests: { a: { method: 'roots/list' } } }],
  ['form that is not known', { inputRequests: { a: 1 } }],
  ['has no question', { requestState: 'x' }],
])('a question is refused: %s', (words, result) => {
  expect(refusal(result)).toMatchObject({ code: 'EMCPINPUT', message: expect.stringContaining(words) });
});

test('the sixth question of a call is refused', () => {
  expect(read(elicit(form({})), 5).question.tool).toBe('order');
  expect(refusal(elicit(form({})), 6).message).toContain('after 5 questions');
});

test('answers and state go back as they are', () => {
  expect(againWith(undefined)).toEqual({});
  expect(againWith({ round: 1, answers: { a: { v: 1 } }, state: 'ünï' })).toEqual({
    inputResponses: { a: { action: 'accept', content: { v: 1 } } },
    requestState: 'ünï',
  });
  expect(againWith({ round: 1, answers: {} })).toEqual({ inputResponses: {} });
});
