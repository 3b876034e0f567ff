import { relativePath } from './path-argument.ts';

export interface TextQuery {
  /** A regular expression in the syntax of ripgrep. */
  pattern: string;
  path: string;
  glob?: string | undefined;
  case_insensitive: boolean;
  output_mode: 'content' | 'files' | 'count';
  /** Lines to show before and after each match. */
  context: number;
  max_results: number;
  include_ignored: boolean;
}

/** The arguments of ripgrep for a search. The caller's texts stand behind `=` or `--`, so that none of them is read as a flag. */
export function ripgrepFlags(query: TextQuery): string[] {
  return [
    '--no-config',
    '--color=never',
    '--null',
    '--with-filename',
    '--stats',
    '--crlf',
    // Limits ripgrep to one thread, but gives the same answer each time.
    '--sort=path',
    // The workspace of a repository may not be a repository.
    '--no-require-git',
    ...modeFlags[query.output_mode],
    ...(query.output_mode === 'content' && query.context > 0 ? [`--context=${query.context}`] : []),
    ...(query.case_insensitive ? ['--ignore-case'] : []),
    ...(query.include_ignored ? ['--no-ignore', '--hidden', '--glob=!.git'] : []),
    ...(query.glob === undefined ? [] : [`--glob=${query.glob}`]),
    `--regexp=${query.pattern}`,
    '--',
    relativePath(query.path),
  ];
}

const modeFlags = {
  content: ['--line-number', '--no-heading', '--no-context-separator', '--max-columns=400', '--max-columns-preview'],
  files: ['--files-with-matches'],
  count: ['--count-matches'],
} as const satisfies Record<TextQuery['output_mode'], readonly string[]>;
