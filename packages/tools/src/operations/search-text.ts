import type { CapturedStream, CommandResult, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { cutShort } from './cut-short.ts';
import { type Failure, failure } from './failure.ts';
import { type GrepOutput, parseCounts, parseFiles, parseMatches, parseStats } from './grep-output.ts';
import { ripgrepFlags, type TextQuery } from './ripgrep-flags.ts';

/** Searches the contents of files by regular expression with ripgrep. */
export async function searchText(context: ToolContext, query: TextQuery): Promise<ToolOutcome> {
  // Reports a path that is missing or outside like every other tool; ripgrep only says that it cannot open the path.
  await context.files.stat(query.path, {}, context.signal);
  const result = await context.run({ argv: [context.ripgrep, ...ripgrepFlags(query)], limits: { wall_ms: wallMs } });
  return { ...outcome(result, query), capabilities: result.capabilities };
}

const wallMs = 60_000;

function outcome(
  { end, stdout, stderr }: CommandResult,
  query: TextQuery,
): Exclude<ToolOutcome, { status: 'deferred' }> {
  const flooded = end.status === 'quota' && end.quota === 'output';
  if (end.status !== 'exited' && !flooded) return cutShort(end, 'The search');
  const stats = parseStats(stdout.text);
  if (end.status === 'exited' && (end.exit_code > 2 || end.signal !== null)) return broken(stderr);
  if (end.status === 'exited' && end.exit_code === 2 && stats === null) return refused(stderr, query);
  const value = {
    ...results(stdout, query, stats),
    // Exit code 2 after a search means that some files could not be read.
    ...(end.status === 'exited' &&
      end.exit_code === 2 && { warnings: stderr.text.trimEnd().split('\n').slice(0, maxWarnings) }),
  };
  return { status: 'succeeded', value };
}

const maxWarnings = 20;

function results(
  stdout: CapturedStream,
  query: TextQuery,
  stats: ReturnType<typeof parseStats>,
): Record<string, unknown> {
  const output = beginning(stdout);
  const limited = <Item>({ items, binary }: GrepOutput<Item>, total: number | undefined) => ({
    items: items.slice(0, query.max_results),
    rest: {
      total: stdout.truncated ? (total ?? null) : items.length,
      truncated: stdout.truncated || items.length > query.max_results,
      ...(binary.length > 0 && { binary_files: binary }),
    },
  });
  switch (query.output_mode) {
    case 'content': {
      const { items, rest } = limited(parseMatches(output, query.context), stats?.lines);
      return { matches: items, ...rest };
    }
    case 'files': {
      const { items, rest } = limited(parseFiles(output), stats?.files);
      return { files: items, ...rest };
    }
    case 'count': {
      const { items, rest } = limited(parseCounts(output), stats?.files);
      return { counts: items, ...rest };
    }
    default:
      return query.output_mode satisfies never;
  }
}

/** Only the beginning of a stream that was cut in the middle is complete. */
function beginning({ text, truncated }: CapturedStream): string {
  return truncated ? Buffer.from(text).subarray(0, keptBytes).toString() : text;
}

/** The sandbox keeps the first 32 KiB of a stream, without a partial character, and then adds a line about the cut. */
const keptBytes = 32 * 1024 - 4;

function refused(stderr: CapturedStream, { glob }: TextQuery): Failure {
  const said = stderr.text.trim();
  if (glob !== undefined && said.includes('error parsing glob')) {
    return failure('EINVALIDGLOB', said, 'Correct the glob.');
  }
  return failure(
    'EINVALIDPATTERN',
    said,
    'Correct the pattern: escape literal characters; look-around, back-references and line breaks are not supported.',
  );
}

function broken(stderr: CapturedStream): Failure {
  return failure('EGREP', `ripgrep failed: ${stderr.text.trim()}`, 'Search with bash and grep instead.');
}
