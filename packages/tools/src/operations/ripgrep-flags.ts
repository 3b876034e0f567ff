import { z } from 'zod';
import { pathArgument, relativePath } from './path-argument.ts';

const withoutNul = z.string().refine((text) => !text.includes('\0'), 'has a NUL byte');

export const grepInput = z.strictObject({
  pattern: withoutNul
    .min(1)
    .max(10_000)
    .describe('Regular expression in the syntax of ripgrep; no look-around, no back-references'),
  path: pathArgument.default('.').describe('Directory or file to search, relative to the workspace root'),
  glob: withoutNul
    .min(1)
    .max(1000)
    .optional()
    .describe('Search only files whose path matches, e.g. "*.ts", or "!*.test.ts" to leave some out'),
  case_insensitive: z.boolean().default(false),
  output_mode: z
    .enum(['content', 'files', 'count'])
    .default('content')
    .describe('content: matching lines; files: paths of files with a match; count: matches per file'),
  context: z.int().min(0).max(10).default(0).describe('Lines to show before and after each match, in the content mode'),
  max_results: z.int().min(1).max(1000).default(200).describe('How many matches, paths or counts to return at most'),
  include_ignored: z.boolean().default(false).describe('Search hidden files and those that .gitignore names, too'),
});
export type GrepArgs = z.output<typeof grepInput>;

/** The arguments of ripgrep for a search. Whatever a caller wrote stands behind `=` or `--`, so that none of it is taken for a flag. */
export function ripgrepFlags(args: GrepArgs): string[] {
  return [
    '--no-config',
    '--color=never',
    '--null',
    '--with-filename',
    '--stats',
    '--crlf',
    // One thread, but the same answer each time.
    '--sort=path',
    // A copy of a repository's tree need not be a repository.
    '--no-require-git',
    ...modeFlags[args.output_mode],
    ...(args.output_mode === 'content' && args.context > 0 ? [`--context=${args.context}`] : []),
    ...(args.case_insensitive ? ['--ignore-case'] : []),
    ...(args.include_ignored ? ['--no-ignore', '--hidden', '--glob=!.git'] : []),
    ...(args.glob === undefined ? [] : [`--glob=${args.glob}`]),
    `--regexp=${args.pattern}`,
    '--',
    relativePath(args.path),
  ];
}

const modeFlags = {
  content: ['--line-number', '--no-heading', '--no-context-separator', '--max-columns=400', '--max-columns-preview'],
  files: ['--files-with-matches'],
  count: ['--count-matches'],
} as const satisfies Record<GrepArgs['output_mode'], readonly string[]>;
