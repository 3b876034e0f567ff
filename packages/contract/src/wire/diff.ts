import { z } from 'zod';
import { fileDiffSchema, leftOutListSchema } from '../diff.ts';
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

export const diffQuerySchema = z.strictObject({
  from: z.string().min(1).optional().describe('A snapshot of the run. Default: the first one'),
  to: z.string().min(1).optional().describe('A snapshot of the run. Default: the current one'),
  path: pathParameter.optional().describe('Only this path'),
  include_ignored: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe("Include what the source's ignore rules match. Default: the setting of the run"),
  format: z.enum(['json', 'patch']).default('json').describe('`patch`: text that git apply accepts'),
});
