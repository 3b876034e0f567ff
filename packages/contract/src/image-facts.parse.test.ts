import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imageLine } from './image-facts.ts';
import { readImageFacts } from './image-header.ts';

const chunk = (name: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)]);
};

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc(8)));
  const start = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    start,
    chunk('IHDR', header),
    chunk('tEXt', Buffer.from('a\0b')),
    pixels,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** With a comment of 300 bytes and a table before the frame header, and fill bytes. */
const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe00004abcdfffffe012c', 'hex'),
  Buffer.alloc(298, 0xff),
  Buffer.from('ffc400040102ffc2000b080258032001011100', 'hex'),
  Buffer.from('ffda0003aa112233ffd9', 'hex'),
]);
const gif = Buffer.from('4749463839612003580200000021f904000000002c00000000010001003b0000', 'hex');
const riff = (body: string): Buffer => {
  const data = Buffer.from(body, 'hex');
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length + 4);
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from('WEBP'), data]);
};
const lossy = riff('5650382010000000300100' + '9d012a2003580200000000');
const lossless = riff('5650384c100000002f1fc3950000000000000000');
const extended = riff('565038580a000000000000001f0300570200' + '0000');

const images: [name: string, data: Buffer, type: string][] = [
  ['PNG', png(800, 600), 'image/png'],
  ['JPEG', jpeg, 'image/jpeg'],
  ['GIF', gif, 'image/gif'],
  ['lossy WebP', lossy, 'image/webp'],
  ['lossless WebP', lossless, 'image/webp'],
  ['extended WebP', extended, 'image/webp'],
];

test.each(images)('the header of a %s says its type and its size', (_, data, media_type) => {
  expect(readImageFacts(data)).toEqual({ media_type, width: 800, height: 600 });
});

test.each(images)('a %s that is cut off is none', (_, data) => {
  const end = data.findLastIndex((byte) => byte !== 0);
  for (let length = 0; length < Math.min(end, data.length - 4); length++) {
    expect(readImageFacts(data.subarray(0, length))).toBeUndefined();
  }
});

test('a size that would fill the memory is a number, and a size of nothing is none', () => {
  expect(readImageFacts(png(0x7fff_ffff, 0x7fff_ffff))).toMatchObject({ width: 2_147_483_647 });
  expect(readImageFacts(png(0, 600))).toBeUndefined();
});

test('an image with a page behind its end is an image, and a page is none', () => {
  const page = Buffer.from('<script>alert(1)</script>');
  expect(readImageFacts(Buffer.concat([png(1, 1), page]))).toMatchObject({ media_type: 'image/png' });
  expect(readImageFacts(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'))).toBeUndefined();
});

test('no bytes make the reader fail or run long', () => {
  const base = fc.constantFrom(...images.map(([, data]) => data));
  const flips = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 12 });
  fc.assert(
    fc.property(base, flips, (data, changes) => {
      const copy = Buffer.from(data);
      for (const [at, byte] of changes) copy[at % copy.length] = byte;
      const facts = readImageFacts(copy);
      if (facts !== undefined) expect(facts.width * facts.height).toBeGreaterThan(0);
    }),
    { numRuns: 1000 },
  );
  const zeros = Buffer.concat([png(1, 1).subarray(0, 33), Buffer.alloc(3_900_000)]);
  const begun = performance.now();
  expect(readImageFacts(zeros)).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(2000);
});

test('a line for people and models', () => {
  expect(imageLine({ media_type: 'image/png', width: 800, height: 600, bytes: 34_120 })).toBe(
    'image 800x600 PNG, 34 kB',
  );
  expect(imageLine({ media_type: 'image/webp', width: 1, height: 1, bytes: 34 })).toBe('image 1x1 WebP, 34 bytes');
});
