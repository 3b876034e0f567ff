import type { ModelImage, ModelMessage, ModelTool } from './port.ts';

/**
 * A first estimate of the tokens of a text in a request, where no provider has counted yet. English and code have about 4 bytes for each
 * token; a letter of another script is up to a whole token; characters escaped in JSON are longer in the request than in the text.
 */
export function tokensOf(text: string): number {
  let tenths = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) tenths += 8;
    else if (unit === quote || unit === backslash || unit === lineEnd) tenths += 6;
    else if (unit < 0x20) tenths += 18;
    else tenths += 3;
  }
  return tenths / 10;
}

const [quote, backslash, lineEnd] = ['"', '\\', '\n'].map((one) => one.charCodeAt(0));

/** Tokens of an image in a request. */
export type CountImage = (image: ModelImage) => number;

/** Names and brackets around a message, a call or a result. */
const around = 20;

export function tokensOfMessage(message: ModelMessage, countImage: CountImage): number {
  switch (message.role) {
    case 'user':
      return around + tokensOf(message.text) + ofImages(message.images, countImage);
    case 'assistant':
      return around + tokensOfAnswer(message.answer);
    case 'tool':
      return message.results.reduce(
        (sum, { text, images }) => sum + around + tokensOf(text) + ofImages(images, countImage),
        0,
      );
    default:
      return message satisfies never;
  }
}

const ofImages = (images: readonly ModelImage[] = [], count: CountImage): number =>
  images.reduce((sum, image) => sum + count(image), 0);

/** The parts for an exact replay have the text and the calls once more: the longer of both is sent. */
function tokensOfAnswer({ text, calls, provider }: (ModelMessage & { role: 'assistant' })['answer']): number {
  const plain = calls.reduce((sum, { args }) => sum + around + tokensOf(JSON.stringify(args)), tokensOf(text));
  return Math.max(plain, provider === null ? 0 : tokensOf(JSON.stringify(provider)));
}

const ofTools = new WeakMap<readonly ModelTool[], number>();

export function tokensOfTools(tools: readonly ModelTool[]): number {
  const known = ofTools.get(tools) ?? tokensOf(JSON.stringify(tools));
  ofTools.set(tools, known);
  return known;
}

type Size = Required<Pick<ModelImage, 'width' | 'height'>>;

/** More than most servers count for an image of usual size. */
const usual = 2000;

/**
 * Tokens of an image in a request to `model`, by the formula of its provider. An image of unknown size counts as a large one of usual
 * shape. A model missing in a table counts like the dearest known one of its provider, because a request must not outgrow its window.
 */
export function tokensOfImage(model: string, { width, height }: Pick<ModelImage, 'width' | 'height'>): number {
  if (width === undefined || height === undefined) return usual;
  const size = { width, height };
  const provider = model.slice(0, model.indexOf('/'));
  if (provider === 'anthropic') return anthropic(model, size);
  if (provider === 'openai' || provider === 'openai-chat') return openai(model.slice(provider.length + 1), size);
  if (provider === 'google') return google(model, size);
  return usual;
}

/**
 * Tokens of a PDF in a request: each page as an image, and its text. Gemini 3 counts 560 tokens for a page
 * (https://ai.google.dev/gemini-api/docs/media-resolution), earlier ones 258 (https://ai.google.dev/gemini-api/docs/document-processing).
 */
export function tokensOfPdf(model: string, { pages = 1, text = '' }: Pick<ModelImage, 'pages' | 'text'>): number {
  return pages * tokensOfPage(model) + tokensOf(text);
}

function tokensOfPage(model: string): number {
  if (model.startsWith('google/')) return /gemini-[12]/.test(model) ? 258 : 560;
  return tokensOfImage(model, letterPage);
}

/** A page of paper with 200 dots an inch: no provider names the size of its images. */
const letterPage = { width: 1700, height: 2200 };

/**
 * Patches of 28 pixels, after the image was made to fit: 1,568 pixels a side and as many tokens, since Opus 4.7 2,576 pixels and 4,784
 * tokens (https://platform.claude.com/docs/en/build-with-claude/vision).
 */
function anthropic(model: string, size: Size): number {
  const [side, most] = smallerClaude.test(model) ? [1568, 1568] : [2576, 4784];
  return Math.min(most, patches(fitted(size, side), 28));
}

const smallerClaude = /claude-(2|3|(haiku|sonnet|opus)-4(-[0-6])?(-\d{8})?$)/;

/**
 * Tiles of 512 pixels with a base, or patches of 32 pixels with a factor, by model
 * (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
 */
function openai(name: string, size: Size): number {
  const tiled = tiles.find(([start]) => name.startsWith(start));
  if (tiled !== undefined && !/(4\.1|5(\.\d)?)-(mini|nano)/.test(name)) return ofTiles(size, tiled[1], tiled[2]);
  const factor = patchFactors.find(([start]) => name.startsWith(start));
  const [each, most] = factor === undefined ? [1.2, 2500] : [factor[1], 1536];
  return Math.ceil(Math.min(most, patches(fitted(size, 2048), 32)) * each);
}

const tiles: readonly (readonly [start: string, base: number, tile: number])[] = [
  ['gpt-4o-mini', 2833, 5667],
  ['gpt-4o', 85, 170],
  ['chatgpt-4o', 85, 170],
  ['gpt-4.1', 85, 170],
  ['gpt-4.5', 85, 170],
  ['gpt-4', 85, 170],
  ['gpt-5-chat', 70, 140],
  ['gpt-5-2', 70, 140],
  ['o1', 75, 150],
  ['o3', 75, 150],
];

const patchFactors: readonly (readonly [start: string, factor: number])[] = [
  ['gpt-4.1-mini', 1.62],
  ['gpt-4.1-nano', 2.46],
  ['gpt-5-mini', 1.62],
  ['gpt-5-nano', 2.46],
  ['o4-mini', 1.72],
];

/** The image fits into 2,048 pixels, and then its shorter side into 768. */
function ofTiles(size: Size, base: number, tile: number): number {
  const { width, height } = fitted(size, 2048);
  const ratio = Math.min(1, 768 / Math.min(width, height));
  return base + tile * patches({ width: width * ratio, height: height * ratio }, 512);
}

/**
 * Gemini 3 counts 1,120 tokens for an image (https://ai.google.dev/gemini-api/docs/media-resolution), earlier ones 258 for each tile of 768
 * pixels, and for an image of at most 384 (https://ai.google.dev/gemini-api/docs/tokens).
 */
function google(model: string, { width, height }: Size): number {
  if (!/gemini-[12]/.test(model)) return 1120;
  return 258 * (Math.max(width, height) <= 384 ? 1 : patches({ width, height }, 768));
}

const patches = ({ width, height }: Size, side: number): number =>
  Math.max(1, Math.ceil(width / side)) * Math.max(1, Math.ceil(height / side));

function fitted({ width, height }: Size, side: number): Size {
  const ratio = Math.min(1, side / Math.max(width, height));
  return { width: width * ratio, height: height * ratio };
}
