import { openModels } from '@holdpoint/models/open-models';
import { openWireServer } from '@holdpoint/models/testing';
import { openTextThreads } from '@holdpoint/tools';
import { afterAll, expect, test } from 'vitest';
import { modelFetch } from './model-fetch.ts';

const texts = openTextThreads();
afterAll(() => texts.close());

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (content: string) => event({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content } }] });

test('a part of a stream arrives while the answer is still being written', async () => {
  await using server = await openWireServer({
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: chunk('first'),
    cut: 'silent',
  });
  const stop = new AbortController();
  const settings = { ollama: { baseUrl: server.url } };
  const said: string[] = [];
  const answer = openModels({ settings, fetch: modelFetch(texts) }).generate({
    ...{ model: 'ollama/m', system: '', messages: [{ role: 'user', text: 'hello' }], tools: [], signal: stop.signal },
    onDelta: (delta) => {
      if (delta.type === 'text') said.push(delta.text);
      stop.abort(new Error('seen'));
    },
  });
  await expect(answer).rejects.toThrow('seen');
  expect(said).toEqual(['first']);
});

test('a whole answer that is too large is refused', async () => {
  await using server = await openWireServer({ body: JSON.stringify({ choices: 'x'.repeat(2_200_000) }) });
  const settings = { ollama: { baseUrl: server.url } };
  const request = {
    ...{ model: 'ollama/m', system: '', messages: [{ role: 'user' as const, text: 'hello' }], tools: [] },
    signal: AbortSignal.timeout(20_000),
  };
  const model = openModels({ settings, fetch: modelFetch(texts) });
  await expect(model.generate(request)).rejects.toMatchObject({ code: 'EMODELUNUSABLE' });
  await expect(model.generate({ ...request, onDelta: () => {} })).rejects.toMatchObject({ code: 'EMODELUNUSABLE' });
});
