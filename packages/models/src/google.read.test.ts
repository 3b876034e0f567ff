import { describe, expect, test } from 'vitest';
import { apiKey, asking, askServer, continued, eventStream, failure, readFile } from './testing/ask.ts';
import { event } from './testing/events.ts';
import { testFaults, testParallelCalls } from './testing/faults.ts';
import { openWireServer } from './testing/wire-server.ts';

const modelName = 'google/gemini-3-pro-preview';

const { name, description, parameters } = readFile;
testParallelCalls({
  model: modelName,
  url: '/v1beta/models/gemini-3-pro-preview:generateContent',
  ids: [expect.any(String), expect.any(String)],
  headers: (headers) => expect(headers.get('x-goog-api-key')).toBe(apiKey),
  body: (ids) => ({
    generationConfig: { maxOutputTokens: 65_536 },
    systemInstruction: { parts: [{ text: 'Work carefully.' }] },
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    contents: [
      { role: 'user' },
      {
        role: 'model',
        parts: [
          { text: 'Reading both.' },
          { functionCall: { id: ids[0], name: 'read_file', args: { path: 'a.txt' } } },
          { functionCall: { id: ids[1], name: 'read_file', args: { path: 'b.txt' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: ids[0], name: 'read_file', response: { content: 'alpha' } } },
          { functionResponse: { id: ids[1], response: { error: 'Error: Denied by a reviewer: not this file.' } } },
        ],
      },
    ],
  }),
});

describe('faults', () => testFaults(modelName, candidate([call({ path: 'a.txt' })])));

// aimock writes no thought signatures, always writes ids and never a malformed call.
test('a thought signature stays on its part, and a call without an id gets one', async () => {
  const parts = [
    { text: 'Which file?', thought: true },
    { ...call({ path: 'a.txt' }), thoughtSignature: 'CpcBsigned==' },
    call({ path: 'b.txt' }),
  ];
  await using ask = await askServer(modelName, candidate(parts));
  const answer = await ask();
  const [a, b] = answer.calls.map(({ id }) => id);
  expect(new Set([a, b, '', undefined]).size).toBe(4);
  expect(answer.text).toBe('');
  await ask(continued(answer));
  const contents = ask.list(1, 'contents');
  expect(contents[1]?.parts).toEqual([
    { text: 'Which file?', thought: true },
    { functionCall: { id: a, name: 'read_file', args: { path: 'a.txt' } }, thoughtSignature: 'CpcBsigned==' },
    { functionCall: { id: b, name: 'read_file', args: { path: 'b.txt' } } },
  ]);
  expect(contents[2]?.parts).toMatchObject([{ functionResponse: { id: a } }, { functionResponse: { id: b } }]);
});

test('arguments that are no object are data', async () => {
  await using server = await openWireServer({
    body: JSON.stringify(candidate([call('a.txt'), call({ x: 1 }, 'fly_away')])),
  });
  const ask = asking(modelName, server.url);
  const answer = await ask();
  expect(answer.calls).toMatchObject([
    { tool: 'read_file', args: 'a.txt', invalid: 'The arguments must be a JSON object, not a string.' },
    { tool: 'fly_away', args: { x: 1 } },
  ]);
  await ask(continued(answer));
  const contents = ask.list(1, 'contents');
  expect(contents[1]?.parts).toMatchObject([{ functionCall: { args: {} } }, { functionCall: { args: { x: 1 } } }]);
});

test('a call that Gemini could not read is invalid, and its result becomes text', async () => {
  const finishMessage = 'Malformed function call: print(default_api.read_file(path=';
  await using ask = await askServer(modelName, {
    candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage, index: 0 }],
  });
  const answer = await ask();
  expect(answer).toMatchObject({ finish: 'tool_calls', calls: [{ invalid: expect.stringContaining(finishMessage) }] });
  expect(answer.calls[0]?.id).not.toBe('');
  await ask(continued(answer));
  expect(ask.list(1, 'contents').slice(1)).toEqual([
    { role: 'model', parts: [{ text: '(no answer)' }] },
    { role: 'user', parts: [{ text: 'Result of your call unreadable_call: alpha' }] },
  ]);
});

test.each(['PROHIBITED_CONTENT', 'SAFETY', 'BLOCKLIST'])(
  'a prompt that Gemini blocks for %s is withheld, whole and streamed, and its tokens count',
  async (blockReason) => {
    const body = { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 } };
    await using server = await openWireServer(
      { body: JSON.stringify(body) },
      { body: event(body), headers: eventStream },
    );
    const ask = asking(modelName, server.url);
    const withheld = { finish: 'content_filter', calls: [], text: '', usage: { input_tokens: 11 } };
    expect(await ask()).toMatchObject(withheld);
    expect((await ask.stream()).answer).toMatchObject(withheld);
  },
);

test('reads the wait of a rate limit from the body, and a wrong key from a 400', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
  const limit = { error: { code: 429, message: 'quota per minute', status: 'RESOURCE_EXHAUSTED', details } };
  const reason = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
  const key = { error: { code: 400, message: `not valid: ${apiKey}`, status: 'INVALID_ARGUMENT', details: reason } };
  await using server = await openWireServer(
    { status: 429, body: JSON.stringify(limit) },
    { status: 400, body: JSON.stringify(key) },
  );
  const ask = asking(modelName, server.url);
  expect(await failure(ask())).toMatchObject({ code: 'EMODELRATELIMIT', retryAfterMs: 34_400 });
  const refused = await failure(ask());
  expect(refused).toMatchObject({ code: 'EMODELAUTH', retryable: false, status: 400 });
  expect(refused.message).not.toContain(apiKey);
});

function call(args: unknown, name = 'read_file') {
  return { functionCall: { name, args } };
}

function candidate(parts: unknown[], finishReason = 'STOP') {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  };
}
