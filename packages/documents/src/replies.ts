import { z } from 'zod';

const problem = z.strictObject({ problem: z.enum(['password', 'broken', 'large']), message: z.string().max(1000) });

export const pagesReply = z.union([
  z.strictObject({
    total_pages: z.int().min(0).max(1_000_000),
    pages: z
      .array(z.strictObject({ page: z.int().min(1), text: z.string().max(20_000), cut: z.int().min(1).optional() }))
      .max(10_000),
  }),
  problem,
]);
export type PagesReply = z.output<typeof pagesReply>;

const files = z.strictObject({
  file: z.base64().transform((text) => Buffer.from(text, 'base64')),
  pages: z.int().min(1),
  texts: z.string(),
});
export type FileReply = z.output<typeof files> | z.output<typeof problem>;

/** A new file within the bounds of the request. */
export const fileReply = ({ first, last, most }: { first: number; last: number; most: number }): z.ZodType<FileReply> =>
  z.union([
    files.refine(
      ({ file, pages }) =>
        pages <= last - first + 1 && file.length <= most && file.subarray(0, 5).toString('latin1') === '%PDF-',
    ),
    problem,
  ]);

/** A hostile file may take the program over. */
export function readReply<Reply>(
  schema: z.ZodType<Reply>,
  line: Buffer,
): Reply | { problem: 'broken'; message: string } {
  const reply = schema.safeParse(parse(line));
  return reply.success ? reply.data : { problem: 'broken', message: 'the reader gave no usable answer' };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
