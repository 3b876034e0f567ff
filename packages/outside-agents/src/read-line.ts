import type { z } from 'zod';

/** A line of JSON. Undefined for a line of another shape, and for words: programs also print those. */
export function readLine<Schema extends z.ZodType>(schema: Schema, line: string): z.infer<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
