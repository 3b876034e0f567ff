import { expect, test } from 'vitest';
import type { ModelMessage } from './port.ts';
import { asking, failure } from './testing/ask.ts';
import { openWireServer } from './testing/wire-server.ts';

const usage = { input_tokens: 1, output_tokens: 1 };
const answerOf = (id: string) => ({
  ...{ model: 'openai-compatible/anthropic/claude-sonnet-4.5', text: '', finish: 'tool_calls' as const, usage },
  ...{ provider: null, calls: [{ id, tool: 'read_file', args: { path: 'a.txt' } }] },
});
const turn = (id: string): ModelMessage[] => [
  { role: 'assistant', answer: answerOf(id) },
  { role: 'tool', results: [{ id, tool: 'read_file', text: 'alpha', is_error: false }] },
];
const conversation: ModelMessage[] = [{ role: 'user', text: 'compare' }, ...turn('call_1'), ...turn('call_2')];

/** The messages of the request, with `cache_control` shown as `*` behind the role. */
async function marked(model: string, cache?: boolean): Promise<string[]> {
  await using server = await openWireServer({ status: 500, body: '{}' });
  const ask = asking(model, server.url);
  await failure(ask(conversation, { cache }));
  const messages = ask.sent[0]?.body.messages as { role: string; content: unknown }[];
  return messages.map((message) => `${message.role}${JSON.stringify(message).includes('"cache_control"') ? '*' : ''}`);
}

test('a model of Anthropic behind a Chat Completions server gets marks where its conversation ends, and others get none', async () => {
  expect(await marked('openai-compatible/anthropic/claude-sonnet-4.5')).toEqual(
    'system* user assistant tool* assistant tool*'.split(' '),
  );
  const without = 'system user assistant tool assistant tool'.split(' ');
  expect(await marked('openai-compatible/anthropic/claude-sonnet-4.5', false)).toEqual(without);
  expect(await marked('openai-compatible/openai/gpt-5')).toEqual(without);
});

test('a text is marked as a part of its message, and nothing else of it changes', async () => {
  await using server = await openWireServer({ status: 500, body: '{}' });
  const ask = asking('openai-compatible/anthropic/claude-sonnet-4.5', server.url);
  await failure(ask([{ role: 'user', text: 'compare' }]));
  const cache_control = { type: 'ephemeral' };
  expect(ask.sent[0]?.body.messages).toEqual([
    { role: 'system', content: [{ type: 'text', text: expect.any(String), cache_control }] },
    { role: 'user', content: [{ type: 'text', text: 'compare', cache_control }] },
  ]);
});
