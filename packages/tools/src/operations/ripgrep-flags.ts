import { availableParallelism } from 'node:os';
import { relativePath } from './touched.ts';

export interface TextQuery {
  /** A regular expression in the syntax of ripgrep. */
  pattern: string;
  /** Takes the pattern literally. @default false */
  literal?: boolean | undefined;
  path: string;
  glob?: string | undefined;
  /** A file type of ripgrep, for example `ts`. */
  type?: string | undefined;
  case_insensitive: boolean;
  output_mode: 'content' | 'files' | 'count';
  /** Lines to show before and after each match. */
  before: number;
  after: number;
  /** Characters of a line at most; the rest is left out with a note. @default 400 */
  columns?: number | undefined;
  include_ignored: boolean;
  /** Names of directories and files left out of the search, in addition to `.git`. @default none */
  leave_out?: readonly string[] | undefined;
}

/** More gain little: opening the files takes most of the time. */
const threads = Math.min(4, availableParallelism());

/** The arguments of ripgrep for a search. @param order `path` limits ripgrep to a single thread, and gives the same beginning each time */
export function ripgrepFlags(query: TextQuery, order: 'path' | 'any'): string[] {
  const { output_mode, before, after, columns = 400 } = query;
  return [
    '--color=never',
    '--stats',
    order === 'path' ? '--sort=path' : `--threads=${threads}`,
    '--with-filename',
    ...modeFlags[output_mode],
    ...(output_mode === 'content' ? [`--max-columns=${columns}`, '--max-columns-preview'] : []),
    ...(output_mode === 'content' && before > 0 ? [`--before-context=${before}`] : []),
    ...(output_mode === 'content' && after > 0 ? [`--after-context=${after}`] : []),
    ...(query.literal === true ? ['--fixed-strings'] : []),
    ...(query.case_insensitive ? ['--ignore-case'] : []),
    ...selection(query),
    `--regexp=${query.pattern}`,
    '--',
    relativePath(query.path),
  ];
}

/** The arguments of ripgrep to name each searched text file. */
export function textFileFlags(query: TextQuery): string[] {
  return [
    '--count',
    '--include-zero',
    '--with-filename',
    ...selection(query),
    '--regexp=^',
    '--',
    relativePath(query.path),
  ];
}

const modeFlags = {
  content: ['--line-number', '--no-heading', '--no-context-separator'],
  files: ['--files-with-matches'],
  count: ['--count-matches'],
} as const satisfies Record<TextQuery['output_mode'], readonly string[]>;

/** The selection of searched files. The caller's texts stand behind `=` or `--`: ripgrep never reads them as flags. */
function selection({ include_ignored, glob, type, leave_out = [] }: TextQuery): string[] {
  return [
    '--no-config',
    '--null',
    '--crlf',
    // The workspace of a repository may not be a repository.
    '--no-require-git',
    ...(include_ignored ? ['--no-ignore', '--hidden'] : []),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    ...(type === undefined ? [] : [`--type=${type}`]),
    // Last, because a later glob overrules an earlier glob, and a glob overrules the rules for hidden and ignored files.
    '--glob=!.git',
    ...leave_out.map((name) => `--glob=!${name}`),
  ];
}
