import { expect, test } from 'vitest';
import type { ModelOverrides } from './describe-model.ts';
import type { ModelImage, ModelMessage, ModelRequest } from './port.ts';
import { asking, failure } from './testing/ask.ts';
import { openWireServer } from './testing/wire-server.ts';

/** The body of the request with these options. */
async function sent(model: string, options: Partial<ModelRequest> & { known?: ModelOverrides }): Promise<Body> {
  await using server = await openWireServer({ status: 500, body: '{}' });
  const { known = {}, messages, ...rest } = options;
  const ask = asking(model, server.url, { known });
  await failure(ask(messages ? [...messages] : undefined, rest));
  return ask.sent[0]?.body as Body;
}
// biome-ignore lint/suspicious/noExplicitAny: the bodies of five formats
type Body = Record<string, any>;

const limitOf = (body: Body): unknown =>
  body.max_tokens ?? body.max_output_tokens ?? body.max_completion_tokens ?? body.generationConfig?.maxOutputTokens;

test.for([
  // An eighth of the window, and no more than the model writes.
  ['anthropic/claude-sonnet-4-5', {}, 25_000],
  ['openai/gpt-5', {}, 50_000],
  ['google/gemini-2.5-pro', {}, 65_536],
  ['openai-chat/gpt-4o', {}, 16_000],
  ['openai-compatible/any', {}, 8192],
  ['ollama/any', { known: { 'ollama/*': { window: 32_768, maxOutput: 4096 } } }, 4096],
  ['ollama/any', { known: { 'ollama/*': { window: 800_000 } } }, 100_000],
  ['anthropic/claude-sonnet-4-5', { maxOutputTokens: 40_000 }, 40_000],
  ['anthropic/claude-sonnet-4-5', { maxOutputTokens: 900_000 }, 64_000],
  ['openai-compatible/any', { maxOutputTokens: 900_000 }, 900_000],
] as const)('the output limit of %s with %j is %i tokens', async ([model, options, limit]) => {
  expect(limitOf(await sent(model, options))).toBe(limit);
});

test.for([
  ['openai/gpt-5', undefined],
  ['openai/gpt-4.1', 0.3],
  ['openai-chat/gpt-4.1', 0.3],
  ['anthropic/claude-sonnet-4-5', 0.3],
  ['anthropic/claude-opus-5', undefined],
  ['openai-compatible/m', 0.3],
  ['ollama/m', 0.3],
] as const)('the temperature that %s gets is %s', async ([model, temperature]) => {
  expect((await sent(model, { temperature: 0.3 })).temperature).toBe(temperature);
});

test.for([
  ['openai/gpt-5', 'none', { reasoning: { effort: 'minimal' } }],
  ['openai/gpt-5', 'max', { reasoning: { effort: 'high' } }],
  ['openai-chat/gpt-5', 'low', { reasoning_effort: 'low' }],
  ['anthropic/claude-sonnet-4-5', 'none', { thinking: { type: 'disabled' } }],
  ['anthropic/claude-sonnet-4-5', 'high', { thinking: { type: 'enabled', budget_tokens: 38_400 } }],
  ['anthropic/claude-opus-5', 'max', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }],
  ['google/gemini-2.5-flash', 'none', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
  ['google/gemini-3-pro-preview', 'max', { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } }],
  ['openai-compatible/m', 'max', { reasoning_effort: 'high' }],
  ['ollama/m', 'none', { reasoning_effort: 'none' }],
] as const)('%s with the reasoning effort %s', async ([model, reasoningEffort, expected]) => {
  expect(await sent(model, { reasoningEffort })).toMatchObject(expected);
});

test('a model that does not reason gets no effort', async () => {
  expect(await sent('openai/gpt-4.1', { reasoningEffort: 'high' })).not.toHaveProperty('reasoning');
});

const png: ModelImage = {
  media_type: 'image/jpeg',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};
const svg: ModelImage = {
  media_type: 'image/png',
  data: Buffer.from('<svg onload="x"/>'.repeat(9)).toString('base64'),
};
const broken: ModelImage = { media_type: 'image/png', data: `${png.data.slice(0, 60)}\n!` };

const seen = (model: string): ModelMessage[] => [
  { role: 'user', text: 'what is this?', images: [png, svg, broken] },
  {
    role: 'assistant',
    answer: {
      ...{
        model,
        text: 'Looking.',
        finish: 'tool_calls',
        usage: { input_tokens: 1, output_tokens: 1 },
        provider: null,
      },
      calls: [{ id: 'call_1', tool: 'read_file', args: { path: 'a.png' } }],
    },
  },
  { role: 'tool', results: [{ id: 'call_1', tool: 'read_file', text: 'an image', is_error: false, images: [png] }] },
];

test.for([
  'openai/gpt-5',
  'openai-chat/gpt-4.1',
  'anthropic/claude-sonnet-4-5',
  'google/gemini-3-pro-preview',
  'openai-compatible/m',
  'ollama/m',
])('%s gets images of prompts and results by what they are', async (model) => {
  const known = { 'openai-compatible/*': { images: true }, 'ollama/*': { images: true } };
  const text = JSON.stringify(await sent(model, { messages: seen(model), known }));
  // Each image stands there once as an image, with the type of its content, and nowhere as text of a result.
  expect(text.split(png.data)).toHaveLength(3);
  expect(text.match(/image\/png/g)?.length).toBeGreaterThanOrEqual(2);
  expect(text).not.toContain('image/jpeg');
  expect(text).not.toContain(svg.data);
  expect(text.match(/is not shown: it is no PNG, JPEG, WebP or GIF/g)).toHaveLength(2);
  expect(text).not.toMatch(/"(?:content|output)":"[^"]*iVBOR/);
});

test('a model that reads no images gets words in their place', async () => {
  const text = JSON.stringify(await sent('openai-compatible/m', { messages: seen('openai-compatible/m') }));
  expect(text).not.toContain(png.data.slice(0, 40));
  expect(text.match(/An image \(image\/png, \d+ bytes\) is not shown: this model reads no images/g)).toHaveLength(4);
});

test('images above the bounds of a request are named, the latest are shown', async () => {
  const large = { ...png, data: png.data.slice(0, 80) + 'A'.repeat(6_000_000) };
  const huge = { ...png, data: png.data.slice(0, 80) + 'A'.repeat(8_000_000) };
  const images = [huge, large, { ...large }, { ...large }, { ...large }];
  const messages: ModelMessage[] = [{ role: 'user', text: 'these', images }, ...seen('anthropic/c').slice(1)];
  const body = await sent('anthropic/claude-sonnet-4-5', { messages });
  const [first] = body.messages as [{ content: { type: string; text?: string }[] }];
  expect(first.content.map(({ type }) => type)).toEqual(['text', 'image', 'image', 'image']);
  expect(first.content[0]?.text).toContain('it has more than 5242880 bytes');
  expect(first.content[0]?.text).toContain('later images need the space');
});

test.each([
  ['a line break far in', `${'A'.repeat(200_000)}\n${'A'.repeat(100)}`, false],
  ['padding in the middle', `${'A'.repeat(65_536)}==AAAA`, false],
  ['three characters of padding', `${'A'.repeat(100)}===`, false],
  ['padding at its end', `${'A'.repeat(200_000)}==`, true],
])('an image with %s', async (_, more, isShown) => {
  const images = [{ ...png, data: png.data.slice(0, 80) + more }];
  const text = JSON.stringify(
    await sent('anthropic/claude-sonnet-4-5', { messages: [{ role: 'user', text: 'this', images }] }),
  );
  expect(text.includes('is not shown')).toBe(!isShown);
});
