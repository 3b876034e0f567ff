import { type FileContent, imageBounds, type KeptImage, readImageFacts, type ToolOutcome } from '@holdpoint/contract';
import { failure } from './cut-short.ts';
import { relativePath } from './touched.ts';

/** An image of the workspace, by its digest. Its bytes are kept beside the log; no pixel is decoded. */
export function readImage(path: string, { data, bytes, sha256 }: FileContent): ToolOutcome {
  if (bytes > imageBounds.bytes || sha256 === null) {
    return failure(
      'EIMAGETOOLARGE',
      `${path} is an image of ${bytes} bytes; images of more than ${imageBounds.bytes} bytes are not shown.`,
      smaller,
      { bytes },
    );
  }
  const facts = readImageFacts(data);
  if (facts === undefined) {
    const next = 'Make it again, or look into it with bash, e.g. file or xxd.';
    return failure('EIMAGEBROKEN', `${path} begins like an image, and is broken or cut off.`, next, { bytes, sha256 });
  }
  const { width, height } = facts;
  if (Math.max(width, height) > imageBounds.side) {
    const said = `${path} has ${width}x${height} pixels; images of more than ${imageBounds.side} a side are not shown.`;
    return failure('EIMAGETOOLARGE', said, smaller, { bytes, sha256, width, height });
  }
  const image: KeptImage = { ...facts, bytes, sha256 };
  return { status: 'succeeded', value: { path: relativePath(path), image }, contents: [data] };
}

const smaller =
  'Make a smaller copy with a command, e.g. `convert IN -resize 1500x1500 OUT.png` (ImageMagick), `ffmpeg -i IN -vf scale=1500:-1 OUT.png` or Pillow, and read the copy.';
