import { createHash } from 'node:crypto';
import type { KeptImage } from '@holdpoint/contract';
import { type ModelAnswer, ModelError, type ModelRequest } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { openWireServer } from '@holdpoint/models/testing';
import { expect, test } from 'vitest';
import { plannedRun, registry, specOfPrompt } from '../testing/planned-run.ts';
import { freshCap, turnMessages } from './conversation.ts';

const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const png = Buffer.from(base64, 'base64');
const sha256 = createHash('sha256').update(png).digest('hex');
const contents = { [sha256]: png };
const image = (more: Partial<KeptImage> = {}): KeptImage => ({
  ...{ media_type: 'image/png', width: 800, height: 600, bytes: png.length, sha256 },
  ...more,
});

let answers = 0;
const reads = (): ModelAnswer => ({
  model: 'test/model',
  text: '',
  calls: [{ id: `call_${++answers}`, tool: 'read_file', args: { path: 'a.png' } }],
  finish: 'tool_calls',
  usage: { input_tokens: 0, output_tokens: 0 },
  provider: null,
});
const ends = (): ModelAnswer => ({ ...reads(), text: 'It is grey.', calls: [], finish: 'stop' });

const facts = { source: 'operator' as const, images: true };
const settled = (more?: Partial<KeptImage>) => ({
  status: 'succeeded' as const,
  native: { path: 'a.png', image: { ...image(more) } },
});

/** A run that reads one image after the other. @param ask what the model answers in each turn */
function seeing(
  ask: (request: ModelRequest, turn: number) => ModelAnswer | Promise<ModelAnswer>,
  { more, ...given }: { more?: Partial<KeptImage>; facts?: object } = {},
) {
  let turn = 0;
  const model = {
    ...{ requests: [], summaries: [], refused: 0 },
    generate: async (request: ModelRequest) => ask(request, ++turn),
  };
  return plannedRun({ model, facts, contents, settle: () => settled(more), ...given } as never);
}

const formats: [model: string, results: (body: never) => unknown][] = [
  ['anthropic/claude-sonnet-4-5', ({ messages }: { messages: unknown[] }) => messages.at(-1)],
  ['google/gemini-3-pro-preview', ({ contents }: { contents: unknown[] }) => contents.at(-1)],
  ['openai/gpt-5', ({ input }: { input: unknown[] }) => input.at(-1)],
  ['openai-chat/gpt-4.1', ({ messages }: { messages: unknown[] }) => messages.slice(-2)],
  ['openai-compatible/m', ({ messages }: { messages: unknown[] }) => messages.slice(-2)],
];

test.each(formats)('an image of a result in a request to %s', async (model, resultsOf) => {
  await using server = await openWireServer({ status: 401, body: '{}' });
  const key = { apiKey: 'no-key-at-all', baseUrl: server.url };
  const known = { 'openai-compatible/*': { images: true } };
  const port = openModels({ settings: { known, anthropic: key, openai: key, google: key, openaiCompatible: key } });
  answers = 0;
  const run = seeing((request, turn) =>
    turn === 1 ? reads() : port.generate({ ...request, model, onDelta: undefined }),
  );
  await expect(run.run(2)).rejects.toThrow('401');
  await expect(run.run(1)).rejects.toThrow('401');
  const [first, second] = server.requests;
  expect(second).toEqual(first);
  expect(JSON.stringify(first)).toContain(base64);
  const provider = model.slice(0, model.indexOf('/'));
  const text = JSON.stringify(resultsOf(first as never), undefined, 2);
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/image-${provider}.json`);
});

const resultsIn = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results : []));

test('a model that reads no images gets no bytes of them', async () => {
  const requests: ModelRequest[] = [];
  const run = seeing((request, turn) => (requests.push(request) && turn === 1 ? reads() : ends()), {
    facts: { source: 'unknown' },
  });
  expect(await run.run(3)).toBe('It is grey.');
  expect(resultsIn(requests[1] as ModelRequest)).toMatchObject([
    { text: 'image 800x600 PNG, 70 bytes', images: [{ data: '', kept: { sha256 } }] },
  ]);
});

test('lost bytes become words, and the run continues', async () => {
  const requests: ModelRequest[] = [];
  const run = seeing((request, turn) => (requests.push(request) && turn === 1 ? reads() : ends()), {
    more: { sha256: 'f'.repeat(64) },
  });
  expect(await run.run(3)).toBe('It is grey.');
  const [result] = resultsIn(requests[1] as ModelRequest);
  expect(result?.text).toContain('its bytes are lost');
  expect(result).not.toHaveProperty('images');
});

test('an image that the provider refuses becomes words, and the conversation is not refused for ever', async () => {
  const broken = Buffer.concat([png, Buffer.from([1])]);
  const digest = createHash('sha256').update(broken).digest('hex');
  const requests: ModelRequest[] = [];
  const run = plannedRun({
    ...{ contents: { [digest]: broken }, facts },
    settle: () => settled({ sha256: digest }),
    model: {
      ...{ requests: [], summaries: [], refused: 0 },
      generate: async (request: ModelRequest) => {
        requests.push(request);
        if (!JSON.stringify(request.messages).includes(broken.toString('base64'))) {
          return requests.length < 6 ? reads() : ends();
        }
        const message = 'test/model answered 400: messages.2: Could not process image';
        throw new ModelError({ code: 'EMODELREQUEST', message, next: 'Look.', status: 400 });
      },
    },
  } as never);
  expect(await run.run(9)).toBe('It is grey.');
  // One refusal in all: later turns leave the image out at once.
  const withImage = requests.filter((request) => resultsIn(request).some(({ images }) => images !== undefined));
  expect(withImage).toHaveLength(1);
  expect(resultsIn(requests.at(-1) as ModelRequest)[0]?.text).toContain('could not read it');
});

test('images count for the window, and old ones leave the conversation before it is full', async () => {
  const requests: ModelRequest[] = [];
  const run = seeing((request) => (requests.push(request) < 12 ? reads() : ends()), {
    more: { width: 1500, height: 1500 },
    facts: { ...facts, window: 24_000, maxOutput: 1000 },
  });
  expect(await run.run(12)).toBe('It is grey.');
  const counts = requests.map((request) => resultsIn(request).filter(({ images }) => images !== undefined).length);
  expect(Math.max(...counts)).toBeGreaterThan(3);
  expect(Math.max(...counts)).toBeLessThan(10);
  expect(run.log.compactions.length).toBeGreaterThan(0);
});

test('when results are cut, a sentence takes the place of an image', () => {
  const step = { id: 'step_1', call_id: 'call_1', tool: 'read_file', args: { path: 'a.png' }, ...settled() };
  const answer = { ...reads(), calls: [{ id: 'call_1', tool: 'read_file', args: { path: 'a.png' } }] };
  const turn = { turn: 1, message: '', answer, steps: [step], readMessages: [], at: new Date(0).toISOString() };
  const shown = (cap: number) =>
    turnMessages(registry, specOfPrompt('Look.'), turn as never, { cap }).flatMap((message) =>
      message.role === 'tool' ? message.results : [],
    );
  expect(shown(freshCap)).toMatchObject([{ text: 'image 800x600 PNG, 70 bytes', images: [{ kept: { sha256 } }] }]);
  expect(shown(800)).toMatchObject([{ text: expect.stringContaining('no longer shows the image') }]);
  expect(shown(800)[0]).not.toHaveProperty('images');
});
