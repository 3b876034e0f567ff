export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type ImageType = (typeof imageTypes)[number];

/** Format and size of an image, as its header names them. */
export interface ImageFacts {
  media_type: ImageType;
  width: number;
  height: number;
}

/** The type of an image by its first bytes. A name and a declared type decide nothing: providers refuse a wrong type. */
export function imageTypeOf(data: Uint8Array): ImageType | undefined {
  const start = latin1(data, 0, 12);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return start.startsWith('RIFF') && start.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}

/**
 * Type and size of an image, from its headers alone: no pixel is decoded, so the size of a picture costs nothing. Undefined for any other
 * content, and for an image whose headers are broken or whose end is missing: a provider refuses such an image, and the whole request.
 */
export function readImageFacts(data: Uint8Array): ImageFacts | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const media_type = imageTypeOf(data);
  const size = media_type && sizes[media_type]({ data, view });
  if (media_type === undefined || size === undefined || size.width < 1 || size.height < 1) return undefined;
  return { media_type, ...size };
}

interface Bytes {
  data: Uint8Array;
  view: DataView;
}

interface Size {
  width: number;
  height: number;
}

const sizes: Record<ImageType, (bytes: Bytes) => Size | undefined> = {
  'image/png': sizeOfPng,
  'image/jpeg': sizeOfJpeg,
  'image/webp': sizeOfWebp,
  'image/gif': sizeOfGif,
};

/** Chunks: length, name, content, checksum. The first is IHDR, and the last is IEND. */
function sizeOfPng({ data, view }: Bytes): Size | undefined {
  if (data.length < 33 || view.getUint32(8) !== 13 || nameAt(data, 12) !== 'IHDR') return undefined;
  let hasPixels = false;
  for (let at = 8; at + 12 <= data.length; at += 12 + view.getUint32(at)) {
    const name = nameAt(data, at + 4);
    if (name === 'IDAT') hasPixels = true;
    if (name === 'IEND') return hasPixels ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
  }
  return undefined;
}

/** Segments: a marker and its length. The size is in the first frame header; pixels follow a start of scan, and EOI ends them. */
function sizeOfJpeg({ data, view }: Bytes): Size | undefined {
  let size: Size | undefined;
  for (let at = 2; at + 4 <= data.length; ) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xda) return endsLater(data, at) ? size : undefined;
    if (isFrame(marker) && at + 9 <= data.length) {
      size ??= { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    const length = view.getUint16(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

const endsLater = (data: Uint8Array, at: number): boolean =>
  data.findLastIndex((byte, index) => byte === 0xd9 && data[index - 1] === 0xff) > at + 1;

/** SOF0 to SOF15. DHT, JPG and DAC stand between them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function sizeOfGif({ data, view }: Bytes): Size | undefined {
  // A trailer ends the blocks. Some programs add zeros.
  const end = data.findLastIndex((byte) => byte !== 0);
  if (data.length < 14 || data[end] !== 0x3b) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function sizeOfWebp({ data, view }: Bytes): Size | undefined {
  if (data.length < 30 || view.getUint32(4, true) + 8 > data.length) return undefined;
  switch (nameAt(data, 12)) {
    case 'VP8 ':
      return latin1(data, 23, 26) === '\x9d\x01\x2a'
        ? { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
        : undefined;
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return data[20] === 0x2f ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 } : undefined;
    }
    case 'VP8X':
      return {
        width: view.getUint16(24, true) + (data[26] ?? 0) * 65_536 + 1,
        height: view.getUint16(27, true) + (data[29] ?? 0) * 65_536 + 1,
      };
    default:
      return undefined;
  }
}

const nameAt = (data: Uint8Array, at: number): string => latin1(data, at, at + 4);

const latin1 = (data: Uint8Array, from: number, to: number): string => String.fromCharCode(...data.subarray(from, to));

/**
 * Bounds of an image that any provider reads. Anthropic's are the smallest: 8,000 pixels a side, and 5 MB in base64, which 3,932,160 bytes
 * fill (https://platform.claude.com/docs/en/build-with-claude/vision).
 */
export const imageBounds = { bytes: (5 * 1024 * 1024 * 3) / 4, side: 8000 };
