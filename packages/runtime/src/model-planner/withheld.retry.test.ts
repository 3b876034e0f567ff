import { type ModelAnswer, ModelError } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { plannedRun } from '../testing/planned-run.ts';
import { afterFailure, readFailure, WithheldError } from './after-failure.ts';
import { summarise } from './context/summarise.ts';

const usage = { input_tokens: 30, output_tokens: 4 };
const withheld: ModelAnswer = {
  ...{ model: 'test/model', text: '', calls: [], finish: 'content_filter', usage, provider: null },
};
const model = { requests: [], summaries: [], refused: 0, generate: async () => withheld };
const settle = () => ({ status: 'succeeded' as const });

test('a withheld answer asks the fallback of the run, and its tokens count', async () => {
  const run = plannedRun({ model, settle, fallbacks: ['test/other'] });
  await expect(run.run(1)).rejects.toThrow('retrying');
  const input = { model: 'test/model', modelsLeft: {}, modelWait: undefined, spec: run.spec };
  const failure = readFailure(new WithheldError('test/model', usage), 'test/model', true);
  if (failure === undefined) throw new Error('no other model is asked');
  expect(afterFailure({ input, now: 0, random: () => 0 }, failure)).toMatchObject({
    kind: 'retrying',
    retrying: { next: 'test/other', usage, reason: { code: 'EMODELPOLICY' }, until: new Date(0).toISOString() },
  });
});

test('without a fallback the model reads that its answer was withheld', async () => {
  const run = plannedRun({ model, settle });
  expect(await run.run(1)).toBe('');
  expect(run.log.turns).toHaveLength(1);
});

test('a call beside the withheld words is made', async () => {
  const calls = [{ id: 'call_1', tool: 'glob', args: { pattern: '*' } }];
  const run = plannedRun({
    model: { ...model, generate: async () => ({ ...withheld, calls }) },
    settle,
    fallbacks: ['test/other'],
  });
  await run.run(1);
  expect(run.log.turns[0]?.steps).toMatchObject([{ tool: 'glob' }]);
});

/** Asks for a summary that the provider withholds, in an answer or by a refusal. */
const summaryOf = (hasOther: boolean, generate: () => Promise<ModelAnswer>) =>
  summarise(
    { generate },
    {
      ...{ model: 'test/model', prompt: 'Do it.', before: '', turns: [], request: 1000, longest: 100, hasOther },
      like: { system: '', tools: [], temperature: undefined, reasoningEffort: undefined, cacheKey: 'run_1' },
      conversations: [[{ role: 'user', text: 'Do it.' }]],
      redacted: { text: (one) => one, json: (one) => one },
      images: { sight: { images: false, pdf: false }, read: () => Promise.reject(new Error('no image is read')) },
      usageOf: (answer) => answer.usage,
      signal: new AbortController().signal,
    },
  );
const refusing = () => Promise.reject(new ModelError({ code: 'EMODELPOLICY', message: 'not allowed', next: '' }));

test.each([
  ['withheld', async () => withheld, usage],
  ['refused by policy', refusing, undefined],
])('a summary that is %s asks the fallback, as a turn does', async (_, generate, counted) => {
  const error = await summaryOf(true, generate).catch((thrown: unknown) => thrown);
  const input = {
    model: 'test/model',
    modelsLeft: {},
    modelWait: undefined,
    spec: plannedRun({ model, settle, fallbacks: ['test/other'] }).spec,
  };
  const failure = readFailure(error, 'test/model', true);
  if (failure === undefined) throw new Error('no other model is asked');
  expect(afterFailure({ input, now: 0, random: () => 0 }, failure)).toMatchObject({
    retrying: { next: 'test/other', usage: counted, reason: { code: 'EMODELPOLICY' } },
  });
  expect(await summaryOf(false, generate)).toMatchObject({
    failed: { code: expect.stringMatching(/^EMODEL(POLICY|REFUSED)$/) },
  });
});
