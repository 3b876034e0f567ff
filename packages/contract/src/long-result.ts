import { z } from 'zod';

/** The folder in which commands and file tools of a run find the whole texts of long results. Read-only, outside of the workspace. */
export const outputsFolder = '/holdpoint/outputs';

/** A result too long for a model to read whole: the parts that a model reads, made once, and the file with the whole text. */
export const longResultSchema = z.strictObject({
  /** Path of the whole text inside; undefined: the disk took no file. */
  path: z.string().optional(),
  bytes: z.int().describe('Bytes of the whole text'),
  lines: z.int().describe('Lines of the whole text'),
  parts: z.array(z.strictObject({ line: z.int().describe('The number of its first line'), text: z.string() })),
  stderr_line: z.int().optional().describe('The line where stderr begins'),
  failures: z.literal(true).optional().describe('A part has the first failures of a test runner'),
  dropped: z.int().optional().describe('Bytes in the middle of the output that were not kept'),
  folded: z.literal(true).optional().describe('Long lines are broken into several'),
});
export type LongResult = z.infer<typeof longResultSchema>;
