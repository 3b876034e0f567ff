import { describe, expect, test } from 'vitest';
import type { UsedByCut } from './port.ts';
import { asking, chatCompletion, eventStream, failure } from './testing/ask.ts';
import { event, eventsOf } from './testing/events.ts';
import { openWireServer } from './testing/wire-server.ts';

const call = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } };
const usage = { input_tokens: 11, output_tokens: 7 };
/** An answer with text and one call, in each wire format. */
const wholes: Record<string, unknown> = {
  'openai/gpt-5': {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5', status: 'completed', usage },
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'sealed',
        summary: [{ type: 'summary_text', text: 'Which?' }],
      },
      {
        ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      {
        ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read_file', status: 'completed' },
        arguments: '{"path":"a.txt"}',
      },
    ],
  },
  'openai-chat/gpt-4.1': chatCompletion([call]),
  'anthropic/claude-sonnet-4-5': {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'tool_use', usage },
    content: [
      { type: 'thinking', thinking: 'Which file?', signature: 'EqQBsigned==' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 'a.txt' } },
    ],
  },
  'google/gemini-3-pro-preview': {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Which file?', thought: true },
            { text: 'Looking.', thoughtSignature: 'sealed' },
            { functionCall: { name: 'read_file', args: { path: 'a.txt' } }, thoughtSignature: 'sealed2' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  },
  'openai-compatible/local': chatCompletion([call]),
};

/** The last events hold the end of the answer; Chat Completions send usage and a mark after it. */
const afterEnd: Record<string, number> = { 'openai-chat/gpt-4.1': 2, 'openai-compatible/local': 2 };

describe.for(Object.keys(wholes))('%s', (model) => {
  const events = eventsOf(model, wholes[model]);

  test('reads the stream that the tests below break', async () => {
    await using server = await openWireServer(
      { body: JSON.stringify(wholes[model]) },
      { body: events.join(''), headers: eventStream },
    );
    const ask = asking(model, server.url);
    const whole = await ask();
    const { answer } = await ask.stream();
    expect(answer).toEqual(whole);
    expect(answer.calls).toMatchObject([{ args: { path: 'a.txt' } }]);
  });

  test('no part of a cut stream passes for the answer', async () => {
    const ends = events.length - (afterEnd[model] ?? 0);
    const cuts = ['dropped', 'ended'] as const;
    const answers = events.slice(0, ends).flatMap((_event, count) => {
      const before = events.slice(0, count).join('');
      const half = (events[count] ?? '').slice(0, -9);
      // Before its first byte nothing has been cut off.
      const bodies = [before, before + half].filter((body) => body !== '');
      return cuts.flatMap((cut) => bodies.map((body) => ({ body, cut, headers: eventStream })));
    });
    await using server = await openWireServer(...answers);
    const ask = asking(model, server.url);
    for (const { body, cut } of answers) {
      const error = await failure(ask.stream());
      expect(error, `${cut} after ${body.slice(-60)}`).toMatchObject({ code: 'EMODELCUTOFF', retryable: true });
    }
  });

  test('an event that is not JSON ends the answer', async () => {
    const body = [...events.slice(0, 4), 'data: {"choices": [nonsense\n\n', ...events.slice(4)].join('');
    await using server = await openWireServer({ body, headers: eventStream });
    expect(await failure(asking(model, server.url).stream())).toMatchObject({ retryable: true });
  });

  test('a stream that stops in the middle ends after the idle time', async () => {
    await using server = await openWireServer({
      body: events.slice(0, 4).join(''),
      cut: 'silent',
      headers: eventStream,
    });
    const ask = asking(model, server.url, { stream: { startMs: 60_000, idleMs: 50 } });
    const error = await failure(ask.stream());
    expect(error).toMatchObject({ code: 'EMODELCUTOFF', retryable: true });
    expect(error.message).toBe(`${model} sent nothing for 0.05 s in the middle of its answer.`);
  });

  test('a server that never begins is given up after the start time', async () => {
    await using server = await openWireServer({ body: '', held: () => {} });
    const error = await failure(asking(model, server.url, { stream: { startMs: 50, idleMs: 60_000 } }).stream());
    expect(error).toMatchObject({ code: 'EMODELUNAVAILABLE', retryable: true });
    expect(error.next).toContain('HOLDPOINT_MODEL_START_MS');
  });

  test('an aborted stream throws the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('run canceled');
    await using server = await openWireServer({
      body: events.slice(0, -3).join(''),
      cut: 'silent',
      headers: eventStream,
    });
    const answer = asking(model, server.url)(undefined, { signal: stop.signal, onDelta: () => stop.abort(reason) });
    await expect(answer).rejects.toBe(reason);
  });

  test('the tokens of a cut stream are counted, as the provider reports them or as an estimate', async () => {
    // Google repeats the tokens so far in every event.
    const usageMetadata = { promptTokenCount: 11, totalTokenCount: 11 };
    const sent = model.startsWith('google') ? [event({ usageMetadata }), ...events] : events;
    await using server = await openWireServer(
      { body: sent.slice(0, -3).join(''), cut: 'silent', headers: eventStream },
      { body: sent.join(''), headers: eventStream },
    );
    const ask = asking(model, server.url);
    const used: UsedByCut[] = [];
    const onCut = (one: UsedByCut) => used.push(one);
    const stop = new AbortController();
    await ask(undefined, { signal: stop.signal, onCut, onDelta: () => stop.abort(new Error('run paused')) }).catch(
      () => {},
    );
    // Anthropic and Google report the request with the first event.
    const isReported = /^(anthropic|google)/.test(model);
    expect(used).toMatchObject([
      {
        usage: { input_tokens: isReported ? 11 : expect.closeTo(80, -2), output_tokens: expect.any(Number) },
        estimated: isReported ? ['output'] : ['input', 'output'],
      },
    ]);
    expect(used[0]?.usage.output_tokens).toBeGreaterThan(0);
    await ask(undefined, { onCut, onDelta: () => {} });
    expect(used, 'a whole answer has its own usage').toHaveLength(1);
  });

  test('a refusal before the stream is read as without one', async () => {
    const error = { error: { code: 503, message: 'no capacity', type: 'server_error', status: 'UNAVAILABLE' } };
    await using server = await openWireServer({
      status: 503,
      headers: { 'retry-after': '7' },
      body: JSON.stringify(error),
    });
    const refused = await failure(asking(model, server.url).stream());
    expect(refused).toMatchObject({ code: 'EMODELUNAVAILABLE', status: 503, retryAfterMs: 7000 });
    expect(refused.message).toContain('no capacity');
  });
});

/** Errors inside a 200, as each provider writes them. */
const errors: [model: string, frame: string, code: string, words: string][] = [
  [
    'anthropic/claude-sonnet-4-5',
    event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
    ...(['EMODELUNAVAILABLE', 'Overloaded'] as const),
  ],
  [
    'anthropic/claude-sonnet-4-5',
    event({ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, 'error'),
    ...(['EMODELRATELIMIT', 'slow down'] as const),
  ],
  [
    'openai/gpt-5',
    event({ type: 'error', code: 'server_error', message: 'it broke', param: null, sequence_number: 3 }, 'error'),
    ...(['EMODELUNAVAILABLE', 'it broke'] as const),
  ],
  [
    'openai/gpt-5',
    event({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow down' } },
      sequence_number: 3,
    }),
    ...(['EMODELRATELIMIT', 'slow down'] as const),
  ],
  [
    'openai-chat/gpt-4.1',
    event({ error: { message: 'it broke', type: 'server_error', param: null, code: null } }),
    ...(['EMODELUNAVAILABLE', 'it broke'] as const),
  ],
  [
    'google/gemini-3-pro-preview',
    event({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
    ...(['EMODELUNAVAILABLE', 'overloaded'] as const),
  ],
  // OpenRouter.
  [
    'openai-compatible/local',
    event({ id: 'g', error: { code: 502, message: 'Provider disconnected' }, choices: [] }),
    ...(['EMODELUNAVAILABLE', 'Provider disconnected'] as const),
  ],
  // vLLM and llama.cpp.
  [
    'openai-compatible/local',
    event({
      error: { code: 400, message: "This model's maximum context length is 4096 tokens.", type: 'BadRequestError' },
    }),
    ...(['EMODELCONTEXT', '4096'] as const),
  ],
  ['openai-compatible/local', event({ error: 'out of memory' }), 'EMODELCUTOFF', 'out of memory'],
];

test.for(errors)('%s: the error %s inside a stream is %s', async ([model, frame, code, words]) => {
  const events = eventsOf(model, wholes[model]);
  await using server = await openWireServer(
    { body: [...events.slice(0, 6), frame].join(''), headers: eventStream },
    { body: frame, headers: eventStream },
  );
  const ask = asking(model, server.url);
  for (const place of ['in the middle', 'at the start']) {
    const error = await failure(ask.stream());
    expect(error, place).toMatchObject({ code, retryable: code !== 'EMODELCONTEXT' });
    expect(error.message, place).toContain(words);
  }
});
