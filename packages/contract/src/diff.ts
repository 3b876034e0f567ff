import { z } from 'zod';

export const unknownContentSchema = z.strictObject({
  path: z.string(),
  reason: z
    .enum(['too_large', 'socket', 'fifo', 'device', 'unreadable'])
    .describe('unreadable: also a folder that is nested too deep, with all that is in it'),
  bytes: z.int(),
  modified_at: z.iso.datetime().nullable().describe('null: not known, or it was left out of the copy already'),
});
/** What is in the tree and no snapshot holds: nothing can be shown of it, and what was there before is not what is there now. */
export type UnknownContent = z.infer<typeof unknownContentSchema>;

export const changedRepositorySchema = z.strictObject({
  path: z
    .string()
    .nullable()
    .describe('The `.git` entry, with a slash at its end where it is a folder; null: the rest of a long list'),
  files: z.int().describe('How many files in it differ'),
  bytes: z.int(),
  configuration: z
    .string()
    .nullable()
    .describe(
      'Of a nested repository: what its configuration says, which git commands in it follow; null: it has none',
    ),
});
/** A repository in the tree that the run made or changed. */
export type ChangedRepository = z.infer<typeof changedRepositorySchema>;

export const fileDiffSchema = z.strictObject({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted']),
  old_mode: z.string().nullable().describe('git mode, e.g. 100644'),
  new_mode: z.string().nullable(),
  binary: z.boolean(),
  additions: z.int(),
  deletions: z.int(),
  hunks: z.array(
    z.strictObject({
      old_start: z.int(),
      old_lines: z.int(),
      new_start: z.int(),
      new_lines: z.int(),
      lines: z.array(z.string()).describe('Each line starts with " ", "+", "-" or "\\\\"'),
    }),
  ),
  omitted: z
    .literal(true)
    .optional()
    .describe('Its hunks are left out, because the diff is too large: ask for this path alone, or for the patch'),
});
export type FileDiff = z.infer<typeof fileDiffSchema>;

const leftOutSchema = z.strictObject({
  path: z
    .string()
    .nullable()
    .describe('Of a folder that stands for all its files, with a slash at its end; null: the rest of a long list'),
  reason: z
    .enum(['ignored', 'excluded', 'repository', 'too_large', 'socket', 'fifo', 'device', 'unreadable'])
    .describe(
      'ignored: by the ignore rules of a git source; excluded: by include or exclude; repository: `.git`, only in a diff; any other: no snapshot can hold it',
    ),
  files: z.int(),
  bytes: z.int(),
  modified_at: z.iso.datetime().optional().describe('Of a file whose content no snapshot holds'),
});
/** What the run made or changed and no publish brings to the source. */
export type LeftOut = z.infer<typeof leftOutSchema>;
/** Whether the run made or changed something that no snapshot holds, so that no publish can bring it. */
export const isUnstorable = ({ reason }: Pick<LeftOut, 'reason'>): boolean =>
  reason !== 'ignored' && reason !== 'excluded' && reason !== 'repository';
export const leftOutListSchema = z.array(leftOutSchema).describe('What the run made or changed and is not published');
