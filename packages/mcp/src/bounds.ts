/** Bounds of a server's descriptions and answers. All sizes are bytes of UTF-8. */
export const bounds = {
  tools: 128,
  pages: 32,
  name: 128,
  description: 4096,
  schema: 32 * 1024,
  schemaDepth: 16,
  /** A message of a server, over HTTP. Over stdio a line has its own bound. */
  message: 8 * 1024 * 1024,
  /** All texts of a result together. */
  text: 1024 * 1024,
  structured: 256 * 1024,
  blocks: 200,
  images: 4,
} as const;

/** Levels of arrays and objects; a scalar has none. */
export function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return depth;
  }
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
