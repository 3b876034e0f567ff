import { describe, expect, test } from 'vitest';
import { asking, askServer, continued, failure, readFile } from './testing/ask.ts';
import { testFaults, testParallelCalls } from './testing/faults.ts';
import { openWireServer } from './testing/wire-server.ts';

describe.each(['ollama/qwen3:8b', 'openai-compatible/qwen/qwen3'])('%s', (model) => {
  // Only Ollama has a default path.
  const path = model.startsWith('ollama') ? '' : '/v1';

  const { name, description, parameters } = readFile;
  testParallelCalls({
    model,
    path,
    url: '/v1/chat/completions',
    headers: (headers) => expect(headers.has('authorization')).toBe(path !== ''),
    body: () => ({
      ...{ model: model.slice(model.indexOf('/') + 1), max_tokens: 8192 },
      tools: [{ type: 'function', function: { name, description, parameters } }],
      messages: [
        { role: 'system', content: 'Work carefully.' },
        { role: 'user' },
        {
          ...{ role: 'assistant', content: 'Reading both.' },
          tool_calls: [
            { id: 'call_a', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } },
            { id: 'call_b', function: { name: 'read_file', arguments: '{"path":"b.txt"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'alpha' },
        // This format has no error flag, so the text names the error.
        { role: 'tool', tool_call_id: 'call_b', content: 'Error: Denied by a reviewer: not this file.' },
      ],
    }),
  });
});

const modelName = 'ollama/qwen3:8b';

describe('faults', () => testFaults(modelName, completion([call('call_1', '{"path":"a.txt"}')])));

// The bytes below are those of Ollama, with reasoning beside the text; aimock writes no malformed arguments.
test('malformed arguments are data, and thinking goes back beside its call', async () => {
  const calls = [call('call_1', '{"path": a.txt'), call('call_2', '{"x":1}', 'fly_away')];
  await using ask = await askServer(modelName, completion(calls));
  const answer = await ask();
  expect(answer).toMatchObject({ text: '', finish: 'tool_calls', usage: { input_tokens: 11, output_tokens: 7 } });
  expect(answer.calls).toMatchObject([
    { id: 'call_1', args: '{"path": a.txt', invalid: expect.stringContaining('not JSON') },
    { id: 'call_2', tool: 'fly_away', args: { x: 1 } },
  ]);
  await ask(continued(answer));
  expect(ask.list(1, 'messages').slice(2)).toMatchObject([
    {
      reasoning_content: 'Which file?',
      tool_calls: [
        { id: 'call_1', function: { arguments: '{}' } },
        { id: 'call_2', function: { name: 'fly_away' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1' },
    { role: 'tool', tool_call_id: 'call_2' },
  ]);
});

test('a missing model is an error of the request', async () => {
  const error = { message: 'model "qwen3:8b" not found, try pulling it first', type: 'api_error', code: null };
  await using server = await openWireServer({ status: 404, body: JSON.stringify({ error }) });
  const refused = await failure(asking(modelName, server.url)());
  expect(refused).toMatchObject({ code: 'EMODELREQUEST', retryable: false, status: 404 });
  expect(refused.message).toContain('try pulling it first');
});

function call(id: string, args: string, name = 'read_file') {
  return { id, index: 0, type: 'function', function: { name, arguments: args } };
}

function completion(calls: unknown[], finish_reason = 'tool_calls') {
  const message = { role: 'assistant', content: '', reasoning: 'Which file?', tool_calls: calls };
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'qwen3:8b', system_fingerprint: 'fp_ollama' },
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
}
