import { expect, test } from 'vitest';
import { ModelError } from './errors.ts';
import { describeModelProblem } from './model-name.ts';
import { openModels } from './open-models.ts';
import { modelSettingsFrom } from './settings.ts';

const models = [
  ...['openai/gpt-5', 'openai-chat/gpt-4.1', 'anthropic/claude-sonnet-4-5', 'google/gemini-3-pro'],
  ...['openai-compatible/m', 'ollama/qwen3:8b'],
];

test('reads each variable; an empty one counts as unset', () => {
  const settings = modelSettingsFrom({
    ...{ OPENAI_API_KEY: 'a', OPENAI_BASE_URL: 'http://o/v1', ANTHROPIC_API_KEY: ' b ', ANTHROPIC_BASE_URL: '' },
    ...{ GEMINI_API_KEY: 'c', GOOGLE_BASE_URL: 'https://g', OPENAI_COMPATIBLE_BASE_URL: 'http://x' },
    ...{ OPENAI_COMPATIBLE_API_KEY: 'd', OLLAMA_BASE_URL: 'http://l:1', HOLDPOINT_MODEL: 'ollama/m', HOME: '/root' },
  });
  expect(settings).toEqual({
    defaultModel: 'ollama/m',
    openai: { apiKey: 'a', baseUrl: 'http://o/v1' },
    anthropic: { apiKey: 'b', baseUrl: undefined },
    google: { apiKey: 'c', baseUrl: 'https://g' },
    openaiCompatible: { apiKey: 'd', baseUrl: 'http://x' },
    ollama: { baseUrl: 'http://l:1' },
    stream: { startMs: 600_000, idleMs: 300_000 },
    known: {},
    answerMs: 1_800_000,
  });
  const both = { GOOGLE_GENERATIVE_AI_API_KEY: 'first', GEMINI_API_KEY: 'second' };
  expect(modelSettingsFrom(both).google?.apiKey).toBe('first');
});

test.each(['localhost:11434', 'ftp://host', 'nonsense'])(
  'the base URL %s is refused by the name of its variable',
  (url) => {
    const read = () => modelSettingsFrom({ OLLAMA_BASE_URL: url });
    expect(read).toThrow(ModelError);
    expect(read).toThrow(/^OLLAMA_BASE_URL is not an http or https URL/);
  },
);

test('a time-out that is no number of milliseconds is refused by the name of its variable', () => {
  expect(() => modelSettingsFrom({ HOLDPOINT_MODEL_IDLE_MS: '5m' })).toThrow(
    /^HOLDPOINT_MODEL_IDLE_MS is not a number/,
  );
  expect(modelSettingsFrom({ HOLDPOINT_MODEL_START_MS: '5000' }).stream).toEqual({ startMs: 5000, idleMs: 300_000 });
  expect(modelSettingsFrom({}).answerMs).toBe(1_800_000);
});

test('without settings only Ollama can be asked; each problem names its variable', () => {
  const next = models.map((model) => describeModelProblem(model, modelSettingsFrom({}))?.next ?? null);
  expect(next).toEqual([
    expect.stringContaining('OPENAI_API_KEY'),
    expect.stringContaining('OPENAI_API_KEY'),
    expect.stringContaining('ANTHROPIC_API_KEY'),
    expect.stringContaining('GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY)'),
    expect.stringContaining('OPENAI_COMPATIBLE_BASE_URL'),
    null,
  ]);
});

test.each(['gpt-5', '/gpt-5', 'openai/', 'mistral/large', '', 'openai/gpt 5', 'OpenAI/gpt-5'])(
  'the name "%s" is a problem that lists the providers',
  (name) => {
    const problem = describeModelProblem(name, modelSettingsFrom({}));
    expect(problem).toMatchObject({ code: 'EMODELNAME', next: expect.stringContaining('openai-compatible, ollama') });
  },
);

test('a model that lacks its key fails before any request', async () => {
  let requests = 0;
  const model = openModels({
    settings: modelSettingsFrom({}),
    fetch: async () => {
      requests += 1;
      return new Response();
    },
  });
  const signal = new AbortController().signal;
  const request = { model: 'anthropic/claude-sonnet-4-5', system: '', messages: [], tools: [], signal };
  await expect(model.generate(request)).rejects.toMatchObject({ code: 'EMODELSETTINGS', retryable: false });
  expect(requests).toBe(0);
});
