import type { Model, ModelAnswer, ModelRequest } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { meterModel } from './meter-model.ts';

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  ...{ model: 'google/gemini-3', system: '', messages: [], tools: [], signal: new AbortController().signal },
  ...more,
});

/** The series that a request leaves, as name and labels. */
async function seriesOf(asked: ModelRequest, generate: Model['generate']) {
  const series: [string, number, Record<string, string>][] = [];
  const record = (...one: (typeof series)[number]) => series.push(one);
  const model = meterModel({ generate } as Model, { isOn: true, record } as never, ['google/gemini-3']);
  await model.generate(asked).catch(() => undefined);
  return series;
}

const answer = {} as ModelAnswer;
const streaming: Model['generate'] = async ({ onDelta }) => {
  onDelta?.({ type: 'text', text: 'a' });
  await new Promise((resolve) => setTimeout(resolve, 30));
  onDelta?.({ type: 'text', text: 'b' });
  return answer;
};

test('the first part of a streamed answer is timed, with the labels of the request', async () => {
  const parts: string[] = [];
  const onDelta: ModelRequest['onDelta'] = (delta) => void parts.push(JSON.stringify(delta));
  const [first, whole, ...others] = await seriesOf(request({ onDelta }), streaming);
  expect(others).toEqual([]);
  expect(parts).toHaveLength(2);
  expect([first?.[0], whole?.[0]]).toEqual(['firstToken', 'modelDuration']);
  expect(first?.[1]).toBeLessThan((whole?.[1] ?? 0) - 0.02);
  expect(first?.[2]).toEqual(whole?.[2]);
  expect(first?.[2]).toMatchObject({ 'gen_ai.provider.name': 'gcp.gemini', 'gen_ai.request.model': 'gemini-3' });
});

test('without a stream, and before the first part of a failed stream, there is no time of a first part', async () => {
  const names = (series: Awaited<ReturnType<typeof seriesOf>>) => series.map(([name]) => name);
  expect(names(await seriesOf(request(), streaming))).toEqual(['modelDuration']);
  const failing = async () => Promise.reject(new Error('gone'));
  expect(names(await seriesOf(request({ onDelta: () => undefined }), failing))).toEqual(['modelDuration']);
});
