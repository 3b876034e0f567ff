import { z } from 'zod';
import { diffHunkSchema } from './diff.ts';

const sideSchema = z.strictObject({
  text: z.string().describe('With its line endings. Bytes that are not UTF-8 are replacement characters'),
  lines: z.int(),
  bytes: z.int(),
  cut: z.boolean().describe('`text` is only the beginning'),
});

/** A hunk where the edits of both sides touch the same lines. */
export const conflictHunkSchema = z.strictObject({
  hunk: z.int().describe('Number of the hunk in the file, from 1'),
  line: z.int().describe("Where it begins in the merged text, which has the source's lines in the hunks before"),
  before: z.string().describe('Up to three merged lines before it'),
  source: sideSchema,
  run: sideSchema,
  after: z.string().describe('Up to three merged lines after it'),
});
export type ConflictHunk = z.infer<typeof conflictHunkSchema>;

const lostLinesSchema = z.strictObject({
  additions: z.int().describe('Lines that the other side had removed and that come back'),
  deletions: z.int().describe('Lines that the other side has and that are lost'),
  hunks: z.array(diffHunkSchema),
  omitted: z.boolean().describe('`hunks` is empty because it would be too long; the counts are whole'),
});
export type LostLines = z.infer<typeof lostLinesSchema>;

/** A file in conflict, merged by lines. */
export const conflictLinesSchema = z.strictObject({
  digest: z.string().describe('For resolutions by lines'),
  hunks: z.int().describe('Conflicting hunks of the file'),
  data: z.array(conflictHunkSchema).describe('From `from` on, as many as fit: at least one'),
  next: z.int().nullable().describe('`from` of the next page; null: there is none'),
  reverts: z
    .strictObject({ run: lostLinesSchema.nullable(), source: lostLinesSchema.nullable() })
    .describe(
      "What taking the whole file of this side reverts of the other side's edits outside of the hunks; null: the file has no lines to compare",
    ),
});
export type ConflictLines = z.infer<typeof conflictLinesSchema>;
