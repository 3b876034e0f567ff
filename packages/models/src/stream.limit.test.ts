import { describe, expect, test } from 'vitest';
import { asking, eventStream, failure } from './testing/ask.ts';
import { event } from './testing/events.ts';
import { openWireServer } from './testing/wire-server.ts';

const chunk = (delta: unknown) => event({ id: 'c', model: 'm', choices: [{ index: 0, delta }] });
const begin = chunk({ role: 'assistant', content: 'x' });
const text = 'x'.repeat(60_000);

test.for([
  ['text', chunk({ content: text })],
  ['reasoning', chunk({ reasoning_content: text })],
  ['arguments', chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read_file', arguments: text } }] })],
  ['calls', chunk({ tool_calls: Array.from({ length: 500 }, () => ({ function: { name: 'f', arguments: '{}' } })) })],
  ['one event', text],
] as const)('endless %s is ended', async ([, again]) => {
  await using server = await openWireServer({
    ...{ body: again === text ? `${begin}data: ` : begin, endless: again, headers: eventStream },
  });
  const error = await failure(asking('openai-compatible/m', server.url).stream());
  expect(error).toMatchObject({ code: 'EMODELUNUSABLE', retryable: false });
  expect(error.message).toContain('no part of it was used');
});

test('arguments in a stream may not be nested too deeply', async () => {
  const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`;
  const call = { index: 0, id: 'a', function: { name: 'read_file', arguments: deep } };
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
  await using server = await openWireServer({ body: chunk({ tool_calls: [call] }) + end, headers: eventStream });
  const { answer } = await asking('openai-compatible/m', server.url).stream();
  expect(answer.calls).toMatchObject([{ args: {}, invalid: expect.stringContaining('more than 90 levels') }]);
});

test('a stream of nothing but signs of life ends when its caller stops waiting', async () => {
  await using server = await openWireServer({ body: begin, endless: ': ping\n\n', headers: eventStream });
  const ask = asking('openai-compatible/m', server.url);
  await expect(ask.stream(undefined, { signal: AbortSignal.timeout(200) })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});

describe('an answer that drips', () => {
  const dripping = { everyMs: 40, body: begin } as const;

  test.for([
    ['text', { ...dripping, endless: chunk({ content: 'x' }), headers: eventStream }],
    ['signs of life', { ...dripping, endless: ': ping\n\n', headers: eventStream }],
    ['a whole', { ...dripping, body: '{"id":', endless: ' ' }],
    ['an error', { ...dripping, body: '{"error":', endless: ' ', status: 503 }],
  ] as const)('%s ends when the time of an answer is over, and may be asked again', async ([, answer]) => {
    await using server = await openWireServer(answer);
    const ask = asking('openai-compatible/m', server.url, { answerMs: 600, stream: { startMs: 500, idleMs: 500 } });
    for (const asked of [ask.stream(), ask()]) {
      const error = await failure(asked);
      expect(error).toMatchObject({ code: 'EMODELCUTOFF', retryable: true });
      expect(error.message).toBe(
        'openai-compatible/m did not end its answer within 0.6 s. No part of the answer was used.',
      );
      expect(error.next).toContain('HOLDPOINT_MODEL_ANSWER_MS');
    }
  });
});
