import { expect, test } from 'vitest';
import { reasoningDetails } from './providers.ts';
import { askServer, chatCompletion, continued } from './testing/ask.ts';

const model = 'openai-compatible/openai/gpt-5';
const details = [
  { type: 'reasoning.summary', summary: 'Two files.', format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'gAAAA+sealed==', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.text', text: 'First a.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 1 },
];
const call = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } };

function answer(reasoning_details: unknown) {
  const { choices, ...rest } = chatCompletion([call]);
  return {
    ...rest,
    choices: choices.map(({ message, ...one }) => ({ ...one, message: { ...message, reasoning_details } })),
  };
}

/** `askServer` asks twice, also for a stream, and compares the answers. */
test('the blocks of reasoning go back with their message as they came', async () => {
  await using ask = await askServer(model, answer(details));
  await ask(continued(await ask()));
  const sent = ask.list(1, 'messages').find(({ role }) => role === 'assistant');
  expect(sent).toMatchObject({ reasoning_details: details, tool_calls: [{ id: 'call_1' }] });
  expect(JSON.stringify(sent?.tool_calls)).not.toContain('reasoning_details');
});

test.each([null, [], 'none', [3]])('an answer with %j has none', async (none) => {
  await using ask = await askServer(model, answer(none));
  await ask(continued(await ask()));
  expect(JSON.stringify(ask.list(1, 'messages'))).not.toContain('reasoning_details');
});

test('a block that arrives in pieces is one block', () => {
  const extractor = reasoningDetails.createStreamExtractor();
  const pieces = [
    { type: 'reasoning.text', text: 'Fir', index: 0, format: 'f' },
    { type: 'reasoning.text', text: 'st.', index: 0, signature: null },
    { type: 'reasoning.text', text: '', index: 0, signature: 'c2ln' },
    { type: 'reasoning.text', text: 'Second.', index: 1 },
    { type: 'reasoning.encrypted', data: 'x', index: 2 },
    { type: 'reasoning.encrypted', data: 'y', index: 2 },
  ];
  for (const piece of pieces) extractor.processChunk({ choices: [{ delta: { reasoning_details: [piece] } }] });
  extractor.processChunk({ choices: [] });
  expect(extractor.buildMetadata()?.openaiCompatible?.reasoning_details).toEqual([
    { type: 'reasoning.text', text: 'First.', index: 0, format: 'f', signature: 'c2ln' },
    { type: 'reasoning.text', text: 'Second.', index: 1 },
    { type: 'reasoning.encrypted', data: 'x', index: 2 },
    { type: 'reasoning.encrypted', data: 'y', index: 2 },
  ]);
});

test('endless reasoning is no answer', () => {
  const extractor = reasoningDetails.createStreamExtractor();
  const piece = {
    choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', text: 'x'.repeat(500_000), index: 0 }] } }],
  };
  expect(() => {
    for (let n = 0; n < 10; n++) extractor.processChunk(piece);
  }).toThrow('more than');
});
