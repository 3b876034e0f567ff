import { imageBounds, imageTypeOf, readImageFacts } from '@holdpoint/contract';
import type { Sight } from './describe-model.ts';
import type { ModelImage, ModelMessage } from './port.ts';

/**
 * Most pages of all PDF files of a request, by provider; each reads a page as its text and an image. The bytes of a request are bounded below
 * the sizes of all of them (`mostRequestBytes`).
 * - Anthropic: 600 pages, 100 for models with a window of 200,000 tokens, and 32 MB for a request
 *   (https://platform.claude.com/docs/en/build-with-claude/pdf-support)
 * - OpenAI: PDF files in both formats, for models with vision from gpt-4o on (https://developers.openai.com/api/docs/guides/file-inputs). The
 *   page names no bound of pages any more; 100 pages and 32 MB were its bounds before
 * - Google: 1,000 pages, and 20 MB for a request with its files inline (https://ai.google.dev/gemini-api/docs/document-processing)
 * - other servers with Chat Completions: OpenRouter gives the file to a model that reads it, and else its text, without a bound of pages
 *   (https://openrouter.ai/docs/guides/overview/multimodal/pdfs)
 */
const bounds: Record<string, number> = { anthropic: 100, openai: 100, 'openai-chat': 100, google: 1000 };
const others = 100;

/** @param model `provider/model` */
const mostPdfPages = (model: string): number => bounds[model.slice(0, model.indexOf('/'))] ?? others;

export interface ImagePart {
  type: 'file';
  data: { type: 'data'; data: string };
  mediaType: string;
  filename?: string;
}

/** The part with an image, or words in its place. */
export type ChosenImages = (image: ModelImage) => ImagePart | string;

/** Images of prompts. Those that a tool reads have smaller bounds. */
const mostImageBytes = 5 * 1024 * 1024;
/** For a single request: providers refuse more than 20 to 32 MB, base64 included. */
export const mostRequestBytes = 14 * 1024 * 1024;
const mostImages = 80;

/** In a request with more than 20 images, Anthropic refuses images of more than 2,000 pixels a side. */
const many = { images: 20, side: 2000 };

/**
 * Decides about the images of a conversation; the latest are shown when there are too many. Their content decides their type, because
 * providers refuse a wrong type.
 */
export function chooseImages(
  messages: readonly ModelMessage[],
  { sight, model }: { sight: Sight; model: string },
): ChosenImages {
  const parts = new Map<ModelImage, ImagePart | string>();
  let [count, bytes, pages] = [0, 0, 0];
  const images = messages.flatMap(imagesOf).reverse();
  const isAnthropic = model.startsWith('anthropic/');
  const isMany = isAnthropic && images.length > many.images;
  for (const image of images) {
    const size = image.kept?.bytes ?? Math.floor((image.data.length * 3) / 4);
    if (isPdf(image)) {
      parts.set(image, fits(image, size) ? pdfPart(image) : (image.text ?? ''));
      continue;
    }
    const facts = factsOf(image);
    const reason = whyNot();
    if (reason === undefined && facts !== undefined) {
      [count, bytes] = [count + 1, bytes + size];
      const mediaType = facts.media_type;
      parts.set(image, { type: 'file', data: { type: 'data', data: image.data }, mediaType });
      continue;
    }
    const type = (facts?.media_type ?? image.media_type).slice(0, 50);
    parts.set(image, `[An image (${type}, ${size} bytes) is not shown: ${reason}.]`);

    function whyNot(): string | undefined {
      if (!sight.images) return 'this model reads no images';
      if (image.data === '') return notLoaded;
      if (facts === undefined) return 'it is no PNG, JPEG, WebP or GIF';
      if (size > mostImageBytes) return `it has more than ${mostImageBytes} bytes`;
      const side = Math.max(facts.width ?? 0, facts.height ?? 0);
      if (isAnthropic && side > imageBounds.side) return `it has more than ${imageBounds.side} pixels a side`;
      if (isMany && side > many.side) {
        return `beside more than ${many.images} images it may have ${many.side} pixels a side at most`;
      }
      if (count === mostImages || bytes + size > mostRequestBytes) return notLoaded;
      return undefined;
    }
  }
  return (image) => parts.get(image) ?? '';

  /** Counts the file, when it has a place in the request. */
  function fits({ data, pages: more = 1 }: ModelImage, size: number): boolean {
    if (!sight.pdf || data === '' || pages + more > mostPdfPages(model) || bytes + size > mostRequestBytes)
      return false;
    [bytes, pages] = [bytes + size, pages + more];
    return true;
  }
}

const isPdf = ({ media_type }: ModelImage): boolean => media_type === pdfType;
const pdfType = 'application/pdf';

/** OpenAI wants a name, and its SDK makes up another one at each place. */
const pdfPart = ({ data }: ModelImage): ImagePart => ({
  ...{ type: 'file', data: { type: 'data', data }, mediaType: pdfType, filename: 'pages.pdf' },
});

const notLoaded = 'later images need the space';

function imagesOf(message: ModelMessage): readonly ModelImage[] {
  if (message.role === 'user') return message.images ?? [];
  return message.role === 'tool' ? message.results.flatMap(({ images }) => images ?? []) : [];
}

interface Facts {
  media_type: string;
  width?: number;
  height?: number;
}

/** The type by the content. A kept image was read when it was kept. */
function factsOf({ data, kept, ...facts }: ModelImage): Facts | undefined {
  if (kept !== undefined) return facts;
  if (!isBase64(data)) return undefined;
  const media_type = imageTypeOf(Buffer.from(data.slice(0, 32), 'base64'));
  if (media_type === undefined || data.length > mostBase64) return media_type && { media_type };
  return readImageFacts(Buffer.from(data, 'base64')) ?? { media_type };
}

/** A larger image is not shown. */
const mostBase64 = (mostImageBytes / 3) * 4 + 4;

const pieceLength = 64 * 1024;

/** 5 MB take about 10 ms. In pieces: V8 has run out of stack in a single expression over 8 MB. */
function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const length = text.length - padding;
  for (let at = 0; at < length; at += pieceLength) {
    if (!/^[A-Za-z0-9+/]+$/.test(text.slice(at, Math.min(at + pieceLength, length)))) return false;
  }
  return length > 0;
}
