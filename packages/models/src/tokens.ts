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
