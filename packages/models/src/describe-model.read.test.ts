import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costOf, describeModel, type ModelOverrides } from './describe-model.ts';
import { ModelError } from './errors.ts';
import { modelSettingsFrom } from './settings.ts';

test.for([
  ['anthropic/claude-sonnet-4-5-20250929', { window: 200_000, maxOutput: 64_000, images: true }],
  ['anthropic/claude-opus-4-1', { window: 200_000, maxOutput: 32_000 }],
  ['openai/gpt-5', { window: 400_000, maxOutput: 128_000, images: true }],
  ['openai-chat/gpt-4.1', { window: 1_047_576, maxOutput: 32_768 }],
  ['openai/o3-mini', { images: false }],
  ['google/gemini-2.5-pro', { window: 1_048_576, maxOutput: 65_536, images: true }],
] as const)('the table knows %s', ([name, facts]) => {
  const described = describeModel(name, {});
  expect(described).toMatchObject({ ...facts, source: 'table' });
  expect(described.prices?.input).toBeGreaterThan(0);
  expect(described.prices?.output).toBeGreaterThan(described.prices?.input ?? 0);
  expect(described.prices?.cached_input ?? 0).toBeLessThan(described.prices?.input ?? 0);
});

test.for(['openai-compatible/gpt-5', 'ollama/llama', 'openai/nothing-of-this-name', 'openai/__proto__', 'x', ''])(
  'nothing is known of %s',
  (name) => expect(describeModel(name, {})).toEqual({ source: 'unknown' }),
);

test('the word of the operator counts before the table, an exact name before a pattern', () => {
  const known = {
    '*': { window: 1 },
    'openai/*': { window: 2, images: false },
    'openai/gpt-5*': { window: 3 },
    'openai/gpt-5': { prices: { input: 1, output: 2 } },
  };
  const gpt = describeModel('openai/gpt-5', known);
  expect(gpt).toEqual({
    ...{ window: 3, images: false, pdf: false, maxOutput: 128_000 },
    ...{ prices: { input: 1, output: 2 }, source: 'operator' },
  });
  expect(describeModel('ollama/m', known)).toMatchObject({ window: 1, source: 'operator' });
  // Hostile names and patterns take linear time.
  const many = { [`${'*a'.repeat(500)}*b`]: { window: 9 } };
  expect(describeModel(`ollama/${'a'.repeat(200_000)}`, many)).toEqual({ source: 'unknown' });
});

test.for([
  ['anthropic/claude-sonnet-4-5', true],
  ['anthropic/claude-3-opus-20240229', false],
  ['openai/gpt-5', true],
  ['openai-chat/gpt-4.1', true],
  ['openai/gpt-4-turbo', false],
  ['openai/o3-mini', false],
  ['google/gemini-2.5-pro', true],
  ['openai-compatible/gpt-5', undefined],
] as const)('%s reads PDF files: %s', ([name, pdf]) => expect(describeModel(name, {}).pdf).toBe(pdf));

test('the operator says which models read PDF files', () => {
  expect(describeModel('openai-compatible/m', { 'openai-compatible/*': { pdf: true } }).pdf).toBe(true);
  expect(describeModel('openai/gpt-5', { 'openai/*': { pdf: false } })).toMatchObject({ images: true, pdf: false });
});

const usage = { input_tokens: 1000, output_tokens: 100, cached_input_tokens: 600, cache_write_tokens: 300 };

test('each kind of token has its price', () => {
  const prices = { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 };
  // 100 × 3 + 600 × 0.3 + 300 × 3.75 + 100 × 15
  expect(costOf({ model: 'ollama/m', usage }, { 'ollama/m': { prices } })).toBe(3105);
  expect(costOf({ model: 'anthropic/claude-sonnet-4-5', usage }, {})).toBe(3105);
  // Without prices of their own, cached tokens cost what others do.
  const plain = { 'ollama/m': { prices: { input: 3, output: 15 } } };
  expect(costOf({ model: 'ollama/m', usage }, plain)).toBe(4500);
  expect(costOf({ model: 'ollama/m', usage }, {})).toBeUndefined();
});

test('a long request costs what the table says of long requests, and hostile counts are bounded', () => {
  const model = 'anthropic/claude-sonnet-4-5';
  const short = costOf({ model, usage: { input_tokens: 100_000, output_tokens: 0 } }, {}) ?? 0;
  const long = costOf({ model, usage: { input_tokens: 300_000, output_tokens: 0 } }, {}) ?? 0;
  expect(short).toBe(300_000);
  expect(long).toBeGreaterThan(3 * short);
  const wrong = { input_tokens: 10, output_tokens: 1, cached_input_tokens: 50, cache_write_tokens: 50 };
  const operators: ModelOverrides[] = [{}, { [model]: { prices: { input: 1, output: 1, cached_input: 0 } } }];
  for (const known of operators) {
    expect(costOf({ model, usage: wrong }, known)).toBeGreaterThan(0);
  }
});

test('reads what the operator says from a file or inline, and prices apart', () => {
  const dir = mkdtempSync(join(tmpdir(), 'models-'));
  try {
    const file = join(dir, 'models.yaml');
    writeFileSync(file, 'ollama/*:\n  window: 32768\n  max_output: 4096\n  images: true\n');
    const prices = '{"ollama/m": {"input": 1, "output": 2, "cached_input": 0.1}}';
    const { known = {} } = modelSettingsFrom({ HOLDPOINT_MODELS: file, HOLDPOINT_MODEL_PRICES: prices });
    expect(describeModel('ollama/m', known)).toEqual({
      ...{ window: 32_768, maxOutput: 4096, images: true, source: 'operator' },
      prices: { input: 1, output: 2, cached_input: 0.1 },
    });
    const inline = modelSettingsFrom({ HOLDPOINT_MODELS: '{"ollama/m": {"window": 5}}' }).known ?? {};
    expect(describeModel('ollama/m', inline).window).toBe(5);
    writeFileSync(file, 'a: &a [1]\nb: *a\n');
    expect(refusal({ HOLDPOINT_MODELS: file })).toMatch(/^HOLDPOINT_MODELS is not valid/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.for([
  [{ HOLDPOINT_MODELS: '/nowhere/models.yaml' }, /^HOLDPOINT_MODELS is not valid\. the file could not be read: ENOENT/],
  [{ HOLDPOINT_MODELS: '{"ollama/m": {"windows": 5}}' }, /HOLDPOINT_MODELS is not valid\. ollama\/m: .*"windows"/],
  [{ HOLDPOINT_MODELS: '{"ollama/m": {"window": -1}}' }, /ollama\/m\.window/],
  [{ HOLDPOINT_MODELS: '{"llama": {}}' }, /llama: .*provider\/model/],
  [{ HOLDPOINT_MODELS: '{nope' }, /expected JSON/],
  [{ HOLDPOINT_MODEL_PRICES: '3' }, /^HOLDPOINT_MODEL_PRICES is not valid/],
  [{ HOLDPOINT_MODEL_PRICES: '{"ollama/m": {"input": 3}}' }, /ollama\/m\.output/],
] as const)('%j is refused', ([env, words]) => expect(refusal(env)).toMatch(words));

function refusal(env: Record<string, string>): string {
  try {
    modelSettingsFrom(env);
  } catch (error) {
    if (error instanceof ModelError && error.code === 'EMODELSETTINGS') return error.message;
    throw error;
  }
  return 'accepted';
}
