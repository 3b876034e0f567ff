import { z } from 'zod';
import { pathParameter } from './path.ts';

/** A comment of a person on a line of a diff. The model reads it as text. */
export const lineCommentSchema = z
  .strictObject({
    path: pathParameter,
    line: z.int().min(1).max(100_000_000).describe('Its number in the version of the file that `side` names'),
    side: z
      .enum(['old', 'new'])
      .default('new')
      .describe('old: a line that the change removes or keeps, by its old number'),
    snapshot: z
      .string()
      .regex(/^[0-9a-f]{40}$/, 'expected the id of a snapshot')
      .optional()
      .describe('The snapshot that was shown on that side'),
    quote: z.string().max(1000).optional().describe('The line as it was shown'),
    text: z.string().max(10_000).regex(/\S/, 'say something'),
  })
  .meta({ id: 'LineComment' });
export type LineComment = z.input<typeof lineCommentSchema>;

export const lineCommentsSchema = z
  .array(lineCommentSchema)
  .max(200)
  .optional()
  .describe('Comments on lines: the model reads them after the message, each with its file, line and quote');
