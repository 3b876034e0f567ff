import { z } from 'zod';
import { searchText } from '../../operations/search-text.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderMatches } from '../../result-text/matches.ts';
import { builtInTool } from '../built-in-tool.ts';

const withoutNul = z.string().refine((text) => !text.includes('\0'), 'has a NUL byte');

const input = z.strictObject({
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
  include_ignored: z.boolean().default(false).describe('Also search hidden files and files that .gitignore names'),
});

export const grep = builtInTool({
  name: 'grep',
  description: `Searches the contents of files by regular expression with ripgrep. Matching lines stand below the path of their file, as number:text; lines around them as number-text. Paths are relative to the workspace root and sorted.
No match is not an error. Long lines are cut. Hidden files and files that .gitignore names are skipped unless include_ignored is set. Binary files are never shown; those that match are named. Escape ( ) [ ] { } . * + ? | ^ $ \\ to find them literally.`,
  effect: 'read',
  risk: 'low',
  input,
  touches: ({ path }) => touchedPaths('read', path),
  render: renderMatches,
  execute: (context, { context: lines, ...query }) => searchText(context, { ...query, before: lines, after: lines }),
});
