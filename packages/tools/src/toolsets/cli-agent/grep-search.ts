import type { ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { parseMatches } from '../../operations/grep-output.ts';
import type { ToolContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { refused, success } from './run-in-terminal.ts';

const wallMs = 30_000;
const keptBytes = 4 * 1024 * 1024;

const noNul = (text: string): boolean => !text.includes('\0');
const input = z.strictObject({
  pattern: z.string().min(1, 'is empty').max(10_000).refine(noNul, 'has a NUL byte').describe('Text to search for'),
  is_regex: z.boolean().default(false).describe('Whether the pattern is a regular expression'),
  file_pattern: z
    .string()
    .min(1)
    .max(1000)
    .refine(noNul, 'has a NUL byte')
    .optional()
    .describe('Glob: search only files whose path matches, such as *.py'),
  max_results: z.int().min(1).max(1000).default(100).describe('How many matches to return at most'),
});
type Args = z.output<typeof input>;

export const grepSearch = builtInTool({
  name: 'grep_search',
  description: 'Search the contents of text files for a text or a regular expression. Binary files are skipped.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input,
  touches: () => ({ paths: [{ path: '.', access: 'read' as const }] }),
  async execute(context, args) {
    const flags = filesOf(args);
    const { pattern, is_regex, max_results } = args;
    const found = await context.search({
      path: '.',
      args: [
        ...[...flags, '--null', '--with-filename', '--line-number', '--no-heading', '--crlf'],
        ...['--max-columns=2000', '--max-columns-preview', ...(is_regex ? [] : ['--fixed-strings'])],
        ...[`--regexp=${pattern}`, '--', '.'],
      ],
      limits: { wall_ms: wallMs },
      kept_bytes: 2 * keptBytes,
    });
    const { end, stdout, stderr } = found;
    const late = end.status === 'timed_out';
    if (end.status === 'killed') return { status: 'killed', error: { code: 'EKILLED', message: end.reason } };
    if (end.status === 'exited' && end.exit_code > 1 && stdout.text === '') return wrongQuery(stderr.text);
    // Only the first half of a cut stream is whole.
    const text = stdout.truncated ? Buffer.from(stdout.text).subarray(0, keptBytes).toString() : stdout.text;
    const { items } = parseMatches(text, { before: 0, after: 0 });
    const partial = late || end.status === 'quota' || stdout.truncated;
    const total = items.length;
    const shown = items.slice(0, max_results);
    const head = `Found ${total} matches for '${pattern}'${shown.length === 0 ? '' : ':'}`;
    const warning = late ? ['Warning: Search timed out after 30s, returning partial results'] : [];
    const cut = total > shown.length ? [`Warning: Found ${total} matches, showing first ${shown.length}`] : [];
    return success(
      {
        output: [head, ...shown.map(({ path, line, text }) => `  ${path}:${line}: ${text}`), ...cut, ...warning].join(
          '\n',
        ),
        files_affected: [],
        metadata: {
          total_matches: total,
          files_searched: late ? null : await countTextFiles(context, flags),
          pattern,
          ...((partial || cut.length > 0) && { truncated: true }),
        },
      },
      [],
    );
  },
});

/** The searched files: all, hidden files included, but for repositories. */
const filesOf = ({ file_pattern }: Args): string[] => [
  ...['--no-config', '--color=never', '--sort=path', '--no-ignore', '--hidden'],
  ...(file_pattern === undefined ? [] : [`--glob=${file_pattern}`]),
  '--glob=!.git',
];

/** The files of the filter without binary files: files with a NUL byte. */
async function countTextFiles(context: ToolContext, flags: readonly string[]): Promise<number | null> {
  const count = (args: readonly string[]) =>
    context.search({ path: '.', args: [...flags, ...args], limits: { wall_ms: wallMs }, keeps: 'nuls' });
  const [all, binary] = await Promise.all([count(['--files', '-0', '.']), count(['-a0l', '\\x00', '.'])]);
  return all.end.status === 'exited' && binary.end.status === 'exited' ? all.nuls - binary.nuls : null;
}

function wrongQuery(said: string): ToolOutcome {
  if (said.includes('glob')) return refused('EINVALIDGLOB', said.trim(), 'Correct file_pattern: close every bracket.');
  const why = said
    .replace(/^rg: /, '')
    .replace(/^regex parse error:\n/, '')
    .trim();
  const suggestion = 'Correct the expression, or leave is_regex out to search for the text itself.';
  return refused('EINVALIDPATTERN', `Invalid regex pattern: ${why}`, suggestion);
}
