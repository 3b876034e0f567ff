import { z } from 'zod';
import { type ImageFacts, imageTypes } from './image-header.ts';

/** Format and size of an image, as its header names them. */
const imageFactsSchema = z.strictObject({
  media_type: z.enum(imageTypes),
  width: z.int().min(1),
  height: z.int().min(1),
});

/** An image kept by digest, apart from the log: a result names the image, and the blob store has its bytes. */
export const keptImageSchema = imageFactsSchema.extend({
  bytes: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type KeptImage = z.infer<typeof keptImageSchema>;

/** `image 800x600 PNG, 34 kB`. */
export function imageLine({ media_type, width, height, bytes }: Pick<KeptImage, 'bytes'> & ImageFacts): string {
  const type = media_type === 'image/webp' ? 'WebP' : media_type.slice('image/'.length).toUpperCase();
  return `image ${width}x${height} ${type}, ${bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`}`;
}

const imageAsideSchema = z.object({ image: keptImageSchema });

/** The image named by a result: the plain value of a tool has the image in its field `image`. */
export const imageIn = (result: unknown): KeptImage | undefined => imageAsideSchema.safeParse(result).data?.image;
