import { z } from 'zod';
import { leftOutListSchema } from './diff.ts';
import { pullRequestSchema, pullRequestTargetSchema } from './pull-request.ts';
import { line } from './source.ts';

export const publishedSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('git'),
      path: z.string(),
      branch: z.string().describe('Full ref, e.g. refs/heads/holdpoint/run_…'),
      commit: z.string(),
      pull_request: pullRequestSchema.optional(),
      left_out: leftOutListSchema,
    }),
    z.strictObject({
      type: z.literal('directory'),
      path: z.string(),
      files_written: z.int(),
      files_deleted: z.int(),
      left_out: leftOutListSchema,
    }),
  ])
  .meta({ id: 'Published' });
export type Published = z.infer<typeof publishedSchema>;

/**
 * A text without control characters, and without characters that change the direction of other text: a person sees exactly the text kept by
 * git.
 */
export const withoutHidden = (text: string): string => text.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '');

/** The message of a commit when a publish names none. */
export const messageOfTitle = (title: string): string => withoutHidden(title).trim() || 'Change set of a run';

/** How a change set is to be published. */
export const publishTargetSchema = z.strictObject({
  branch: line
    .min(1)
    .max(250)
    .optional()
    .describe(
      'For a git source: created when missing, merged into when it has moved. Default: a new branch holdpoint/<run>',
    ),
  message: z.string().min(1).max(10_000).describe('Message of the commit'),
  author: z
    .strictObject({ name: z.string().min(1).max(200), email: z.string().min(1).max(200) })
    .optional()
    .describe('Author of the commit. Default: Holdpoint'),
  include_ignored: z
    .boolean()
    .optional()
    .describe('Also publish what the ignore rules of a git source match. Default: false'),
  pull_request: pullRequestTargetSchema.optional(),
});
export type PublishTarget = z.infer<typeof publishTargetSchema>;

const oidSchema = z.string().regex(/^[0-9a-f]{40}$/);

/** A version of a file in conflict. Null stands for no file. */
const versionSchema = z.strictObject({
  mode: z.string(),
  oid: oidSchema.describe('Hex SHA-1 of the content as a git blob'),
  bytes: z.int(),
  text: z.string().nullable().describe('null: not UTF-8 text, or larger than 64 KiB'),
});
export type FileVersion = z.infer<typeof versionSchema>;

/**
 * Why nothing was published; the source is unchanged. A conflict with `versions` can be resolved by a choice between the versions; any
 * other conflict must first be fixed in the source.
 */
export const conflictSchema = z.strictObject({
  path: z.string(),
  reason: z.enum([
    'changed_in_source',
    'merge',
    'attributes',
    'not_changed_by_run',
    'branch_exists',
    'branch_checked_out',
    'source_missing',
  ]),
  detail: z.string(),
  versions: z
    .strictObject({
      base: versionSchema.nullable().describe('The version that the run started with'),
      source: versionSchema.nullable().describe('The current version of the source'),
      run: versionSchema.nullable().describe('The version of the run'),
    })
    .optional(),
  merge: z
    .strictObject({
      digest: z.string().describe('Digest of the three versions. A resolution by lines names it'),
      hunks: z
        .int()
        .describe('Conflicting hunks. 0: the edits touch different lines, and run_lines keeps the edits of both sides'),
    })
    .optional()
    .describe('Not there: the file cannot be merged by lines. GET /v1/approvals/{id}/conflict shows the hunks'),
});
export type Conflict = z.infer<typeof conflictSchema>;

/** A conflict in the log and in a run: without the versions and their merge. A publish plan shows both. */
export const conflictSummarySchema = conflictSchema.omit({ versions: true, merge: true }).meta({ id: 'Conflict' });
export type ConflictSummary = z.infer<typeof conflictSummarySchema>;

/** Most conflicting hunks of a file in a resolution. */
const mostChoices = 10_000;

/** The replacement for a conflicting hunk in a file. */
const hunkChoiceSchema = z.discriminatedUnion('take', [
  z.strictObject({
    hunk: z.int().min(1).describe('Number of the hunk in the file'),
    take: z.enum(['run', 'source', 'both']).describe("both: the source's lines, then those of the run"),
  }),
  z.strictObject({
    hunk: z.int().min(1),
    take: z.literal('text'),
    text: z
      .string()
      .max(1024 * 1024)
      .describe('Whole lines, as they are: line endings are not converted'),
  }),
]);
export type HunkChoice = z.infer<typeof hunkChoiceSchema>;

const hunkChoices = z.array(hunkChoiceSchema).max(mostChoices);
const resolved = {
  path: z.string(),
  seen: oidSchema.nullable().describe("`oid` of the source's version that was shown; null: there was none"),
};
const byLines = { ...resolved, digest: z.string().describe('`merge.digest` of the conflict') };

/**
 * The result for a file in conflict. By lines: every edit outside of the conflicting hunks stays, from either side. As a whole file: the
 * run's version, the source's, or other text. Valid only while the source still has `seen`, and by lines only for the versions of `digest`.
 */
export const resolutionSchema = z.discriminatedUnion('take', [
  z.strictObject({
    ...byLines,
    take: z.enum(['run_lines', 'source_lines']).describe('For every hunk that `hunks` does not name'),
    hunks: hunkChoices.optional(),
  }),
  z.strictObject({ ...byLines, take: z.literal('hunks'), hunks: hunkChoices.describe('One choice for every hunk') }),
  z.strictObject({ ...resolved, take: z.enum(['run', 'source']) }),
  z.strictObject({ ...resolved, take: z.literal('text'), text: z.string().max(1024 * 1024) }),
]);
export type Resolution = z.infer<typeof resolutionSchema>;

/** The result of a publish at this moment, to the byte: the dry run. */
export const publishPlanSchema = z.strictObject({
  target: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('git'),
      path: z.string(),
      branch: z.string().describe('Full ref'),
      from: oidSchema
        .nullable()
        .describe('The commit that the branch must still have; null: the branch must not exist'),
      commit: oidSchema.nullable().describe('The commit that the branch will have; null: there are conflicts'),
      how: z.enum(['create', 'fast_forward', 'merge', 'nothing']),
      message: z.string(),
      author: z.strictObject({ name: z.string(), email: z.string() }),
      pull_request: pullRequestTargetSchema
        .optional()
        .describe('The pull request that is opened from the branch once it is pushed, or updated'),
    }),
    z.strictObject({ type: z.literal('directory'), path: z.string() }),
  ]),
  candidate: oidSchema.describe('The snapshot that would be published; validators run on it'),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        status: z.enum(['added', 'modified', 'deleted']),
        old_mode: z.string().nullable(),
        new_mode: z.string().nullable(),
        moved_from: z.string().optional().describe('The file was probably moved: its deleted path is in the list, too'),
        moved_to: z.string().optional().describe('Where this deleted file probably is now'),
      }),
    )
    .describe('What would change at the target'),
  converted: z
    .array(z.strictObject({ path: z.string(), how: z.enum(['line_endings', 'ident', 'lfs']) }))
    .optional()
    .describe(
      "Files that differ between the commit and the run because of the source's .gitattributes. `lfs`: the commit has a pointer, and the content goes to the source's LFS storage",
    ),
  left_out: leftOutListSchema,
  conflicts: z.array(conflictSchema).describe('With any conflict, nothing can be published'),
  digest: z
    .string()
    .describe(
      'Digest of the whole plan: a publish that would do anything else has another one. `sha256:` and 64 hex digits',
    ),
});
export type PublishPlan = z.infer<typeof publishPlanSchema>;
