import { z } from 'zod';
import { parseRemote } from './remote.ts';
import { secretNameSchema } from './secret.ts';
import { sourceFoldersSchema } from './source-folders.ts';

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

const credentialsSchema = z.strictObject({
  secret: secretNameSchema.describe('A token or password for https, a private key without a passphrase for ssh'),
  username: z
    .string()
    .max(200)
    .regex(/^[^\p{Cc}:]+$/u, 'expected a name without a colon')
    .optional()
    .describe('For https. Default: x-access-token, which hosts take beside a token'),
});

const gitSchema = z
  .strictObject({
    type: z.literal('git'),
    path: path.optional().describe('Absolute path of a git work tree or bare repository on the worker host'),
    url: z
      .string()
      .min(1)
      .max(2000)
      .superRefine((text, context) => {
        const remote = parseRemote(text);
        if (typeof remote === 'string') context.addIssue({ code: 'custom', message: remote });
      })
      .optional()
      .describe('In place of a path: https://host/path, ssh://user@host/path or user@host:path'),
    credentials: credentialsSchema.optional().describe('For a url that is not public'),
    known_hosts: z
      .string()
      .max(16_384)
      .optional()
      .describe('For ssh: the keys of the host, as lines of a known_hosts file. Default: those of the operator'),
    ref: line.min(1).max(1000).optional().describe('Branch, tag or commit. Default: HEAD'),
    history: historySchema,
    ...selection,
    with: sourceFoldersSchema.optional(),
  })
  .superRefine(({ path: local, url, credentials, known_hosts: keys, with: folders }, context) => {
    const issue = (at: string, message: string) => context.addIssue({ code: 'custom', path: [at], message });
    if (local === undefined && url === undefined) issue('path', 'expected a path or a url');
    if (local !== undefined && url !== undefined) issue('url', 'a source has a path or a url, not both');
    if (url !== undefined && folders !== undefined) issue('with', 'only a source with a path has folders on this host');
    if (url !== undefined) return;
    if (credentials !== undefined) issue('credentials', 'only a source with a url takes credentials');
    if (keys !== undefined) issue('known_hosts', 'only a source with a url takes keys of a host');
  });

/**
 * Where a run's files come from. Wire shape of `workspace.source`. The workspace has no path outside of `include` and `exclude`, and a
 * publish leaves such paths unchanged at the source.
 */
export const sourceSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('directory'),
      path: path.describe('Absolute path of a directory on the worker host'),
      ...selection,
      with: sourceFoldersSchema.optional(),
    }),
    gitSchema,
    z.strictObject({
      type: z.literal('archive'),
      path: path.describe('Absolute path of a .tar, .tar.gz or .zip file on the worker host'),
      ...selection,
    }),
    z.strictObject({ type: z.literal('empty') }),
  ])
  .meta({ id: 'Source' });
export type Source = z.infer<typeof sourceSchema>;
export type GitSource = Extract<Source, { type: 'git' }>;
/** A git source has either a path or a URL. */
export type RemoteSource = GitSource & { url: string };

/** The folders visible to a run read-only at their place in the source: paths relative to the source's top. */
export const sourceFoldersOf = (source: Source): readonly string[] =>
  (source.type === 'git' || source.type === 'directory' ? source.with : undefined) ?? [];

export const isRemote = (source: Source): source is RemoteSource => source.type === 'git' && source.url !== undefined;

/** Where a source is: its path or URL. */
export const placeOf = (source: Exclude<Source, { type: 'empty' }>): string =>
  (source.type === 'git' ? (source.url ?? source.path) : source.path) ?? '';
