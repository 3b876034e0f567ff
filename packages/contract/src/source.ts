import { z } from 'zod';

/** Git refs contain no control characters, and a git command line takes no NUL. */
export const line = z.string().regex(/^[^\p{Cc}]*$/u, 'expected no control characters');
/** File names may contain any character but this. */
const withoutNul = z.string().regex(/^[^\0]*$/, 'expected no NUL');
const path = withoutNul.min(1).max(4096);

// Glob patterns of paths relative to the workspace, such as `src/**`. They match dot files, too; see `compileGlob`.
const selection = {
  include: z.array(withoutNul.min(1).max(500)).max(200).optional().describe('Only paths that match one of these globs'),
  exclude: z.array(withoutNul.min(1).max(500)).max(200).optional().describe('No paths that match one of these globs'),
};

const historySchema = z
  .union([z.int().min(1).max(1_000_000), z.enum(['full', 'none'])])
  .optional()
  .describe(
    'At most how many commits `git log` and `git blame` see in the workspace. Default: 100, and none beside globs',
  );

/**
 * Where a run's files come from. Wire shape of `workspace.source`. Paths that `include` and `exclude` leave out do not exist in the
 * workspace, and a publish leaves them unchanged at the source.
 */
export const sourceSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('directory'),
    path: path.describe('Absolute path of a directory on the worker host'),
    ...selection,
  }),
  z.strictObject({
    type: z.literal('git'),
    path: path.describe('Absolute path of a git work tree or bare repository on the worker host'),
    ref: line.min(1).max(1000).optional().describe('Branch, tag or commit. Default: HEAD'),
    history: historySchema,
    ...selection,
  }),
  z.strictObject({
    type: z.literal('archive'),
    path: path.describe('Absolute path of a .tar, .tar.gz or .zip file on the worker host'),
    ...selection,
  }),
  z.strictObject({ type: z.literal('empty') }),
]);
export type Source = z.infer<typeof sourceSchema>;
