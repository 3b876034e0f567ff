import { expect, test } from 'vitest';
import { tokensOfImage } from './tokens.ts';

// The sizes with a published count are those of the providers' own pages.
test.each([
  ['anthropic/claude-sonnet-4-5', 200, 200, 64],
  ['anthropic/claude-sonnet-4-5', 1000, 1000, 1296],
  ['anthropic/claude-sonnet-4-5', 1920, 1080, 1568],
  ['anthropic/claude-opus-5', 1920, 1080, 2691],
  ['anthropic/claude-opus-5', 8000, 8000, 4784],
  ['openai/gpt-4o', 1024, 1024, 765],
  ['openai-chat/gpt-4o', 2048, 4096, 1105],
  ['openai/gpt-4.1-mini', 1024, 1024, 1659],
  ['openai/gpt-4.1-mini', 8000, 8000, 2489],
  ['openai/o4-mini', 64, 64, 7],
  ['openai/gpt-5.5', 1024, 1024, 1229],
  ['openai/gpt-5.5', 8000, 8000, 3000],
  ['google/gemini-2.5-pro', 384, 384, 258],
  ['google/gemini-2.5-pro', 960, 540, 516],
  ['google/gemini-3-pro-preview', 960, 540, 1120],
  ['ollama/llava', 1, 1, 2000],
] as const)('%s counts an image of %i x %i pixels as %i tokens', (model, width, height, tokens) => {
  expect(tokensOfImage(model, { width, height })).toBe(tokens);
});

test('an image of unknown size counts as a large one', () => {
  expect(tokensOfImage('openai/gpt-4o', {})).toBe(2000);
});
