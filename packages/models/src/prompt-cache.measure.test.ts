import { expect, test } from 'vitest';
import type { ModelMessage } from './port.ts';
import { asking } from './testing/ask.ts';
import { openCachingServer } from './testing/caching-server.ts';

const models = [
  ...['openai/gpt-5', 'openai-chat/gpt-4.1', 'anthropic/claude-sonnet-4-5', 'google/gemini-3-pro-preview'],
  ...['openai-compatible/m', 'ollama/m'],
];
const fileText = 'A line of some file that the model reads. '.repeat(5);

/** The format of two is that of `openai-compatible`. */
const lengths = models.map((model) => [model, /^(openai-chat|ollama)/.test(model) ? 40 : 200] as const);

test.for(lengths)('%s: a task of %i turns reads each part of its conversation once', async ([model, turns]) => {
  await using server = await openCachingServer(model);
  const ask = asking(model, server.url);
  const messages: ModelMessage[] = [{ role: 'user', text: 'Read all files.' }];
  const usage = { input: 0, cached: 0, written: 0 };
  for (let turn = 1; turn <= turns; turn++) {
    const answer = await ask(messages, { cacheKey: 'run_1' });
    usage.input += answer.usage.input_tokens;
    usage.cached += answer.usage.cached_input_tokens ?? 0;
    usage.written += answer.usage.cache_write_tokens ?? 0;
    const results = answer.calls.map(({ id, tool }) => ({ id, tool, text: `${turn} ${fileText}`, is_error: false }));
    messages.push({ role: 'assistant', answer }, { role: 'tool', results });
    // A person may write at any time.
    if (turn % 50 === 0) messages.push({ role: 'user', text: 'Continue.' });
  }
  const counted = server.counted;
  // Thirty turns on the wire: a longer conversation begins with the same bytes.
  for (const [index, { text }] of counted.slice(1, 31).entries()) {
    expect(text.startsWith(counted[index]?.text ?? '')).toBe(true);
  }
  const uncached = (first: number) => counted.slice(0, first).reduce((all, one) => all + one.uncached, 0);
  expect(uncached(turns)).toBeLessThan(2.1 * uncached(turns / 2));
  expect(uncached(turns)).toBeLessThan(1.1 * (counted.at(-1)?.tokens ?? 0));
  const all = counted.reduce((sum, one) => sum + one.tokens, 0);
  expect(all).toBeGreaterThan((turns / 4) * uncached(turns));
  // What the server counted is what the answers say.
  expect(usage).toMatchObject({ input: all, cached: all - uncached(turns) });
  expect(usage.written).toBe(model.startsWith('anthropic/') ? uncached(turns) : 0);
  expect(Math.max(...counted.map(({ marks }) => marks))).toBe(model.startsWith('anthropic/') ? 3 : 0);
});

test('an answer with more calls than Anthropic looks back still finds the cache', async () => {
  const model = 'anthropic/claude-sonnet-4-5';
  await using server = await openCachingServer(model);
  const ask = asking(model, server.url);
  const messages: ModelMessage[] = [{ role: 'user', text: fileText.repeat(20) }];
  const first = await ask(messages);
  const calls = Array.from({ length: 40 }, (_, n) => ({ id: `call_${n}`, tool: 'read_file', args: { path: 'a' } }));
  const results = calls.map(({ id, tool }) => ({ id, tool, text: 'alpha', is_error: false }));
  messages.push({ role: 'assistant', answer: { ...first, calls, provider: null } }, { role: 'tool', results });
  const second = await ask(messages);
  expect(second.usage.cached_input_tokens).toBeGreaterThan(0.9 * first.usage.input_tokens);
});

test('the key of the cache is sent to OpenAI alone, and nothing is marked when the cache is off', async () => {
  for (const model of models) {
    await using server = await openCachingServer(model);
    const ask = asking(model, server.url);
    await ask(undefined, { cacheKey: 'run_1' });
    await ask(undefined, { cacheKey: 'run_1', cache: false });
    expect(ask.sent[0]?.body.prompt_cache_key, model).toBe(/^openai(-chat)?\//.test(model) ? 'run_1' : undefined);
    expect(JSON.stringify(ask.sent[1]?.body)).not.toMatch(/cache/);
  }
});
