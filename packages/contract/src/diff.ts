import { z } from 'zod';
import { problemSchema } from './vocabulary.ts';

export const unknownContentSchema = z.strictObject({
  path: z.string(),
  reason: z
    .enum(['too_large', 'socket', 'fifo', 'device', 'unreadable'])
    .describe('unreadable: also a folder that is nested too deep, with its contents'),
  bytes: z.int(),
  modified_at: z.iso.datetime().nullable().describe('null: unknown, or already left out of the copy'),
});
/** An entry of the tree without displayable content: no snapshot can hold the entry. */
export type UnknownContent = z.infer<typeof unknownContentSchema>;

export const changedRepositorySchema = z.strictObject({
  path: z
    .string()
    .nullable()
    .describe('The `.git` entry, with a trailing slash if it is a folder; null: the rest of a long list'),
  files: z.int().describe('Number of files in it that differ'),
  bytes: z.int(),
  configuration: z
    .string()
    .nullable()
    .describe('The configuration of a nested repository, which git commands in it obey; null: there is none'),
});
/** A repository in the tree, made or changed by the run. */
export type ChangedRepository = z.infer<typeof changedRepositorySchema>;

/** The files of a run without displayable content: the approval of a call names them. */
export interface HiddenFiles {
  unknown: UnknownContent[];
  repositories: ChangedRepository[];
}

export const diffHunkSchema = z.strictObject({
  old_start: z.int(),
  old_lines: z.int(),
  new_start: z.int(),
  new_lines: z.int(),
  lines: z.array(z.string()).describe('Each line starts with " ", "+", "-" or "\\\\"'),
});

export const fileDiffSchema = z.strictObject({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted']),
  old_mode: z.string().nullable().describe('git mode, e.g. 100644'),
  new_mode: z.string().nullable(),
  moved_from: z
    .string()
    .optional()
    .describe('The path that the file had before: hunks and counts are of the edit alone, and that path has no entry'),
  binary: z.boolean(),
  too_large: z
    .enum(['counted', 'uncounted'])
    .optional()
    .describe(
      'Too large to be shown. counted: it is text, and the counts are those of its lines; uncounted: its content was not looked at',
    ),
  additions: z.int(),
  deletions: z.int(),
  hunks: z.array(diffHunkSchema),
  cut: z
    .int()
    .optional()
    .describe(
      'Number of lines left out at the end of the hunks, because this file alone is too long: the last hunk is incomplete. The patch has them',
    ),
  omitted: z
    .literal(true)
    .optional()
    .describe('The hunks are left out because the diff is too large: request this path alone, or the patch'),
  unreadable: problemSchema
    .optional()
    .describe(
      'A version of the file is lost or damaged in the store: no hunks and no counts. A patch or a publish with this file is refused',
    ),
});
export type FileDiff = z.infer<typeof fileDiffSchema>;

/** A changed file in a list: without its lines. */
export const fileCountsSchema = fileDiffSchema
  .omit({ hunks: true, cut: true, omitted: true })
  .meta({ id: 'FileCounts' });
export type FileCounts = z.infer<typeof fileCountsSchema>;

/** A path with different content in two states of a workspace. */
export const pathChangeSchema = z.strictObject({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted', 'unknown']).describe('unknown: no snapshot holds its content'),
});
export type PathChange = z.infer<typeof pathChangeSchema>;

const leftOutSchema = z.strictObject({
  path: z
    .string()
    .nullable()
    .describe('A path with a trailing slash is a folder with all its files; null: the rest of a long list'),
  reason: z
    .enum([
      ...(['ignored', 'excluded', 'prepared', 'repository', 'submodule'] as const),
      ...(['too_large', 'socket', 'fifo', 'device', 'unreadable'] as const),
    ])
    .describe(
      'ignored: by the ignore rules of a git source; excluded: by include or exclude; prepared: made by the commands of `prepare`; repository: `.git`, only in a diff; submodule: in the folder of a submodule, whose commits are those of another repository; all others: no snapshot can hold it',
    ),
  files: z.int(),
  bytes: z.int(),
  modified_at: z.iso.datetime().optional().describe('For a file whose content no snapshot holds'),
});
/** A path created or changed by the run and excluded from every publish. */
export type LeftOut = z.infer<typeof leftOutSchema>;
/** Whether no publish can include the path: no snapshot can hold the content, or the path belongs to a submodule. */
export const isUnstorable = ({ reason }: Pick<LeftOut, 'reason'>): boolean =>
  !['ignored', 'excluded', 'prepared', 'repository'].includes(reason);
export const leftOutListSchema = z
  .array(leftOutSchema)
  .describe('What the run created or changed and is not published');
