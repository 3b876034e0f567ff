import type { ModelImage, ModelMessage } from './port.ts';

export interface ImagePart {
  type: 'file';
  data: { type: 'data'; data: string };
  mediaType: string;
}

/** The part with an image, or words in its place. */
export type ChosenImages = (image: ModelImage) => ImagePart | string;

/** Anthropic refuses larger ones. */
const mostImageBytes = 5 * 1024 * 1024;
/** For a single request: providers refuse more than 20 to 32 MB, base64 included. */
const mostRequestBytes = 14 * 1024 * 1024;
const mostImages = 80;

/** How the content of each accepted type begins, in hex; `.` is any digit. */
const beginnings: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/gif', /^474946383[79]61/],
];

/**
 * Decides about the images of a conversation; the latest are shown when there are too many. Their content decides their type, because
 * providers refuse a wrong type.
 */
export function chooseImages(messages: readonly ModelMessage[], showsImages: boolean): ChosenImages {
  const parts = new Map<ModelImage, ImagePart | string>();
  let [count, bytes] = [0, 0];
  for (const image of messages.flatMap(imagesOf).reverse()) {
    const mediaType = contentType(image.data);
    const size = Math.floor((image.data.length * 3) / 4);
    const reason = whyNot();
    if (reason === undefined && mediaType !== undefined) {
      [count, bytes] = [count + 1, bytes + size];
      parts.set(image, { type: 'file', data: { type: 'data', data: image.data }, mediaType });
      continue;
    }
    const type = (mediaType ?? image.media_type).slice(0, 50);
    parts.set(image, `[An image (${type}, ${size} bytes) is not shown: ${reason}.]`);

    function whyNot(): string | undefined {
      if (!showsImages) return 'this model reads no images';
      if (mediaType === undefined) return 'it is no PNG, JPEG, WebP or GIF';
      if (size > mostImageBytes) return `it has more than ${mostImageBytes} bytes`;
      if (count === mostImages || bytes + size > mostRequestBytes) return 'later images need the space';
      return undefined;
    }
  }
  return (image) => parts.get(image) ?? '';
}

function imagesOf(message: ModelMessage): readonly ModelImage[] {
  if (message.role === 'user') return message.images ?? [];
  return message.role === 'tool' ? message.results.flatMap(({ images }) => images ?? []) : [];
}

function contentType(base64: string): string | undefined {
  if (!isBase64(base64)) return undefined;
  const hex = Buffer.from(base64.slice(0, 32), 'base64').toString('hex');
  return beginnings.find(([, beginning]) => beginning.test(hex))?.[0];
}

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
