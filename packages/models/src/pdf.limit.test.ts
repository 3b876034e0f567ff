import { expect, test } from 'vitest';
import { sentPrompt } from './conversation.ts';
import type { ModelImage, ModelMessage } from './port.ts';
import { tokensOfPdf } from './tokens.ts';

const pdf = (pages: number, bytes: number, text: string): ModelImage => ({
  ...{ media_type: 'application/pdf', data: 'JVBERi0=', pages, text },
  kept: { sha256: 'a'.repeat(64), bytes },
});
const conversation = (images: ModelImage[], model: string): ModelMessage[] => [
  { role: 'user', text: 'Look.' },
  {
    role: 'assistant',
    answer: {
      ...{ model, text: '', finish: 'tool_calls', provider: null, usage: { input_tokens: 0, output_tokens: 0 } },
      calls: images.map((_, at) => ({ id: `call_${at}`, tool: 'read_file', args: {} })),
    },
  },
  {
    role: 'tool',
    results: images.map((image, at) => ({
      ...{ id: `call_${at}`, tool: 'read_file', text: 'PDF', is_error: false, images: [image] },
    })),
  },
];
function shown(images: ModelImage[], model = 'anthropic/claude-sonnet-4-5', sight = { images: true, pdf: true }) {
  const prompt = sentPrompt({ system: '', messages: conversation(images, model), model }, { isCached: false, sight });
  const text = JSON.stringify(prompt);
  return { files: text.match(/"mediaType":"application\/pdf"/g)?.length ?? 0, text };
}

test('a model that reads no PDF gets the text of the pages', () => {
  const { files, text } = shown([pdf(2, 9, 'the text')], 'openai/o3-mini', { images: false, pdf: false });
  expect(files).toBe(0);
  expect(text).toContain('PDF\\nthe text');
  expect(shown([pdf(2, 9, 'the text')]).text).not.toContain('the text');
});

test('the latest files are shown within the pages and the bytes of a request, and the text of the others', () => {
  const files = Array.from({ length: 12 }, (_, at) => pdf(10, 1000, `text ${at}.`));
  expect(shown(files)).toMatchObject({ files: 10 });
  expect(shown(files).text).toMatch(/text 0\..*text 1\./);
  expect(shown(files).text).not.toContain('text 2.');
  expect(shown(files, 'google/gemini-3-pro-preview').files).toBe(12);
  const large = Array.from({ length: 6 }, (_, at) => pdf(10, 3 * 1024 * 1024, `text ${at}.`));
  expect(shown(large, 'openai/gpt-5').files).toBe(4);
});

test('bytes that are not loaded are no file of a request', () => {
  expect(shown([{ ...pdf(1, 9, 'the text'), data: '' }])).toMatchObject({
    files: 0,
    text: expect.stringContaining('the text'),
  });
});

test.for([
  ['anthropic/claude-sonnet-4-5', 1568],
  ['anthropic/claude-opus-4-8', 4784],
  ['google/gemini-2.5-pro', 258],
  ['google/gemini-3-pro-preview', 560],
] as const)('a page of %s counts %i tokens and its text', ([model, tokens]) => {
  expect(tokensOfPdf(model, { pages: 3, text: '' })).toBe(tokens * 3);
  expect(tokensOfPdf(model, { pages: 3, text: 'x'.repeat(1000) })).toBe(tokens * 3 + 300);
});
