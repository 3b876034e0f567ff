import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelUsage } from '@holdpoint/contract';
import { startTestEngine, type TestEngine } from '@holdpoint/engine/testing';
import { modelSettingsFrom } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openModelGate } from '../model-gate/model-gate.ts';
import { openGenerate } from './generate-text.ts';

const name = 'openai-compatible/test';
let engine: TestEngine;
/** What the provider does, and the requests that it has had: all of them, and the most at once. */
const provider = { refuses: false, requests: 0, open: 0, most: 0 };
const server = createServer(async (request, response) => {
  request.resume();
  provider.requests += 1;
  provider.most = Math.max(provider.most, ++provider.open);
  await new Promise((resolve) => setTimeout(resolve, 30));
  provider.open -= 1;
  if (provider.refuses) {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '600' });
    response.end('{"error":{"message":"slow down"}}');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  const choices = [{ index: 0, message: { role: 'assistant', content: 'said' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  response.end(JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'test', choices, usage }));
});
beforeAll(async () => {
  engine = await startTestEngine();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(async () => {
  await engine.deps.redis.flushall();
  Object.assign(provider, { refuses: false, requests: 0, open: 0, most: 0 });
});
afterAll(async () => {
  server.close();
  await engine.stop();
});

/** One call of a tool, in a worker of its own. */
function call(runId: string) {
  const settings = modelSettingsFrom({
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  });
  const { redis, logger } = engine.deps;
  const rates = { 'openai-compatible': { at_once: 1 } };
  const models = {
    model: openModels({ settings, fetch, now: Date.now }),
    prices: {},
    gate: openModelGate({ redis, rates, logger, wake: async () => {} }),
    accountOf: () => ({ provider: 'openai-compatible', digest: 'd' }),
  };
  const plain = { text: (text: string) => text };
  const secrets = { redactor: () => plain } as unknown as Parameters<typeof openGenerate>[0]['secrets'];
  const scope = { tenant: 'default', secrets: [] } as unknown as Parameters<typeof openGenerate>[1]['scope'];
  const signal = AbortSignal.timeout(60_000);
  const used: ModelUsage[] = [];
  const onUse = async ({ usage }: { usage: ModelUsage }) => void used.push(usage);
  const rest = { needsPrice: false, scope, wallMs: 60_000, signal, onUse };
  return { used, generate: openGenerate({ models, secrets }, { runId, model: name, ...rest }) };
}

test('requests of tools share the places at a provider with all workers', async () => {
  const calls = ['a', 'b', 'c'].map(call);
  const answers = await Promise.all(calls.map(({ generate }) => generate?.({ prompt: 'say', max_output_tokens: 9 })));
  expect(answers).toEqual(Array.from({ length: 3 }, () => ({ text: 'said' })));
  expect(provider).toMatchObject({ requests: 3, most: 1 });
  expect(calls.map(({ used }) => used.map(({ input_tokens }) => input_tokens))).toEqual([[3], [3], [3]]);
});

test('a provider that refused one call gets no request of the next', async () => {
  provider.refuses = true;
  await expect(call('a').generate?.({ prompt: 'say', max_output_tokens: 9 })).rejects.toMatchObject({
    code: 'EMODELRATELIMIT',
  });
  await expect(call('b').generate?.({ prompt: 'say', max_output_tokens: 9 })).rejects.toMatchObject({
    name: 'ProviderClosedError',
    code: 'EMODELRATELIMIT',
  });
  expect(provider.requests).toBe(1);
});
