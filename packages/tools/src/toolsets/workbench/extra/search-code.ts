import { z } from 'zod';
import { searchText } from '../../../operations/search-text.ts';
import { pathArgument, touchedPaths } from '../../../operations/touched.ts';
import { builtInTool } from '../../built-in-tool.ts';

const withoutNul = z
  .string()
  .min(1)
  .max(10_000)
  .refine((text) => !text.includes('\0'), 'has a NUL byte');

const input = z.strictObject({
  query: withoutNul.describe('Regular expression in the syntax of ripgrep'),
  path: pathArgument.default('.').describe('File or directory to search'),
  glob: withoutNul.max(1000).optional().describe('Search only files whose path matches, such as "*.ts"'),
  maxResults: z.int().min(1).max(1000).default(100),
});

export const searchCode = builtInTool({
  name: 'search_code',
  description:
    'Searches files by regular expression. Returns {matches: [{path, line, text}], total, truncated}. Hidden and ignored files are skipped.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  version: '1.0.0',
  input,
  touches: ({ path }) => touchedPaths('read', path),
  execute: (context, { query, maxResults, ...rest }) =>
    searchText(context, {
      ...{ pattern: query, max_results: maxResults, output_mode: 'content' as const, before: 0, after: 0 },
      ...{ case_insensitive: false, include_ignored: false },
      ...rest,
    }),
});
