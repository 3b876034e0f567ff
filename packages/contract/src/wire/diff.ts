import { z } from 'zod';
import { fileCountsSchema, fileDiffSchema, leftOutListSchema } from '../diff.ts';
import { pathParameter } from './path.ts';

/** The changes between two snapshots of a run. */
export const diffSchema = z
  .strictObject({
    run_id: z.string(),
    dry_run: z.boolean().describe('The run was a dry run: this is what would change'),
    from: z.string(),
    to: z.string(),
    additions: z.int(),
    deletions: z.int(),
    files: z.array(fileDiffSchema),
    left_out: leftOutListSchema,
  })
  .meta({ id: 'Diff' });
export type Diff = z.infer<typeof diffSchema>;

/** The same without the lines of the files. */
export const diffStatSchema = diffSchema.extend({ files: z.array(fileCountsSchema) }).meta({ id: 'DiffStat' });
export type DiffStat = z.infer<typeof diffStatSchema>;

export const diffQuerySchema = z.strictObject({
  from: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A snapshot of the run, the number or id of a step, `source` or `current`. Default: `source`, the first one',
    ),
  to: z.string().min(1).optional().describe('The same. Default: `current`'),
  path: pathParameter.optional().describe('Only this file, or the files in this folder'),
  stat: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Only names, status, modes and counts of lines: read the hunks of one file at a time with `path`'),
  include_ignored: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe("Include what the source's ignore rules match. Default: the setting of the run"),
  format: z.enum(['json', 'patch']).default('json').describe('`patch`: text that git apply accepts'),
});
