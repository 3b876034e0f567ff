import type { EndedSpans } from '@holdpoint/contract';
import { genAiModel } from '@holdpoint/contract/names';
import { expect, test } from 'vitest';
import { boundModel, countSpans } from './count-spans.ts';

const models = [
  'google/gemini-3',
  'openai-chat/gpt-5',
  'openai/gpt-5',
  'anthropic/claude-x',
  'openai-compatible/meta/llama',
];
type Labels = Record<string, string>;

/** The labels of tokens and cost of a turn, as the span of the turn names its model. */
async function labelsOfTurn(name: string): Promise<Labels[]> {
  const seen: Labels[] = [];
  const record = (metric: string, _value: unknown, labels: Labels) => {
    if (metric === 'tokens') seen.push(labels);
  };
  const count = (metric: string, labels: Labels) => {
    if (metric === 'cost') seen.push(labels);
  };
  const { provider, model } = genAiModel(name);
  const attributes = {
    ...{ 'gen_ai.provider.name': provider, 'gen_ai.request.model': model, 'gen_ai.operation.name': 'chat' },
    ...{ 'gen_ai.usage.input_tokens': 1, 'gen_ai.usage.output_tokens': 1, 'holdpoint.cost.micros': 5 },
  };
  const span = { kind: 'turn', status: 'ok', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:01Z', attributes };
  const batch = [{ run_id: 'run_1', trace_id: 't', spans: [{ span_id: 's', ...span }] }] as unknown as EndedSpans[];
  await countSpans({ record, count } as never, { tools: [], models }).take(batch);
  return seen;
}

test.each(models)('%s has the same labels on tokens, cost and the time of a request', async (name) => {
  const request = boundModel({ known: models, most: 0 })(genAiModel(name));
  const turns = await labelsOfTurn(name);
  expect(turns.length).toBeGreaterThanOrEqual(2);
  for (const labels of turns) expect(labels).toMatchObject(request);
  expect(request['gen_ai.request.model']).toBe(name.slice(name.indexOf('/') + 1));
  expect(request['gen_ai.provider.name']).not.toBe('google');
});

test('hostile names become one series, with both labels', () => {
  const label = boundModel({ known: ['openai/a'], most: 2 });
  for (let at = 0; at < 100; at++) label(genAiModel(`openai/model-${at}`));
  const other = { 'gen_ai.provider.name': 'other', 'gen_ai.request.model': 'other' };
  expect(label(genAiModel('openai/model-99'))).toEqual(other);
  expect(label(genAiModel('openai/a\nb'))).toEqual(other);
  expect(label(genAiModel(`openai/${'x'.repeat(500)}`))).toEqual(other);
  expect(label(undefined)).toEqual(other);
  expect(label(genAiModel('openai/a'))).toEqual({ 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'a' });
});
