import { z } from 'zod';
import { searchFiles } from '../../operations/search-files.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { allowedPath, unsearchedFolders } from './bash.ts';
import { ripgrepType } from './file-type.ts';

const deadlineMs = 60_000;
const mostShown = 100_000;
/** Bytes of the matches of an answer. `offset` reaches the matches behind. */
const mostBytes = 1024 * 1024;
const longestLine = 2000;

const noNul = (text: string): boolean => !text.includes('\0');
const lineCount = z.int().min(0).max(100);

const input = z.strictObject({
  pattern: z.string().min(1).max(10_000).refine(noNul, 'has a NUL byte').describe('Regular expression to search for'),
  directory: pathArgument.default('.').describe('Directory to search (default: the current directory)'),
  file_pattern: z
    .string()
    .min(1)
    .max(1000)
    .refine(noNul, 'has a NUL byte')
    .default('**/*')
    .describe('Glob on the path below directory, or without "/" on the name of the file (default: **/*)'),
  type: z.string().min(1).max(50).optional().describe('Type of the files: an extension or a name, such as rs or rust'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .default('content')
    .describe('content: lines; files_with_matches: paths; count: matches per file (default: content)'),
  case_insensitive: z.boolean().default(false).describe('Ignore case (default: false)'),
  context: lineCount.default(0).describe('Lines before and after each match (default: 0)'),
  before_context: lineCount.optional().describe('Lines before each match (default: context)'),
  after_context: lineCount.optional().describe('Lines after each match (default: context)'),
  head_limit: z.int().min(0).max(mostShown).optional().describe('Number of matches to return (default: all that fit)'),
  offset: z.int().min(0).default(0).describe('Number of matches to skip (default: 0)'),
});

const line = z.strictObject({
  file: z.string(),
  line: z.int(),
  content: z.string(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
});

export const grep = builtInTool({
  name: 'grep',
  description: `Search the contents of text files by a regular expression. matches has {file, line, content, before?, after?}, or paths, or {file, count}, by output_mode. Binary files and ${unsearchedFolders.join(', ')} are left out. No match is an empty list. Returns: {matches, count, total_found, truncated?}`,
  effect: 'read',
  risk: 'low',
  input,
  output: z.strictObject({
    matches: z.union([
      z.array(line),
      z.array(z.string()),
      z.array(z.strictObject({ file: z.string(), count: z.int() })),
    ]),
    count: z.int(),
    total_found: z.int(),
    truncated: z.literal(true).optional(),
  }),
  touches: ({ directory }) => touchedPaths('read', directory),
  async execute(context, args) {
    const allowed = await allowedPath(context, args.directory);
    if (!allowed.ok) return allowed.failure;
    const { pattern, case_insensitive, output_mode, context: around, head_limit = mostShown, offset } = args;
    const mode = modes[output_mode];
    const found = await searchFiles(context, {
      ...{ pattern, case_insensitive, output_mode: mode, include_ignored: true },
      path: allowed.real,
      glob: globOf(args.file_pattern, allowed.real),
      type: args.type === undefined ? undefined : ripgrepType(args.type),
      leave_out: unsearchedFolders,
      before: args.before_context ?? around,
      after: args.after_context ?? around,
      columns: longestLine,
      deadline_ms: deadlineMs,
    });
    if (!found.ok) return found.failure;
    const { items, cut, totals, capabilities } = found;
    const matches = thatFit(items.slice(offset, offset + head_limit).map(shown));
    const all = mode === 'content' ? totals?.lines : mode === 'count' ? totals?.matches : totals?.files;
    const total_found = Math.max(cut ? (all ?? 0) : 0, mode === 'count' ? sum(items) : items.length);
    const truncated = cut || offset + matches.length < items.length;
    const value = { matches, count: matches.length, total_found, ...(truncated && { truncated }) };
    return { status: 'succeeded', value, capabilities };
  },
});

const modes = { content: 'content', files_with_matches: 'files', count: 'count' } as const;

type Item =
  | string
  | { path: string; matches: number }
  | { path: string; line: number; text: string; before?: string[]; after?: string[] };

function shown(item: Item) {
  if (typeof item === 'string') return item;
  if ('matches' in item) return { file: item.path, count: item.matches };
  const { path: file, line, text: content, before, after } = item;
  return { file, line, content, ...(before && { before }), ...(after && { after }) };
}

function thatFit<Match>(matches: Match[]): Match[] {
  let bytes = 0;
  const end = matches.findIndex((match) => {
    bytes += Buffer.byteLength(JSON.stringify(match)) + 1;
    return bytes > mostBytes;
  });
  return end < 0 ? matches : matches.slice(0, end);
}

const sum = (items: readonly Item[]): number =>
  items.reduce((all, item) => all + (typeof item !== 'string' && 'matches' in item ? item.matches : 0), 0);

/**
 * For ripgrep a glob without "/" matches the name of a file, and a leading "/" is the root of the workspace. A leading "!" is a character.
 */
function globOf(pattern: string, directory: string): string | undefined {
  if (pattern === '**/*') return undefined;
  const literal = pattern.replace(/^!/, '\\!');
  if (!pattern.includes('/')) return literal;
  const below = directory === '.' ? '' : `/${directory.replaceAll(/[\\*?[\]{}!]/g, '\\$&')}`;
  return `${below}/${literal.replace(/^\/+/, '')}`;
}
