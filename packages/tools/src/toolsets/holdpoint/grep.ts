import type { ToolOutcome } from '@holdpoint/contract';
import type { CapturedStream, CommandResult } from '@holdpoint/sandbox/port';
import { defineTool } from '../../define-tool.ts';
import { cutShort } from './cut-short.ts';
import { type Failure, failure } from './failure.ts';
import { type GrepOutput, parseCounts, parseFiles, parseMatches, parseStats } from './grep-output.ts';
import { type GrepArgs, grepInput, ripgrepFlags } from './ripgrep-flags.ts';

export const grep = defineTool({
  name: 'grep',
  description: `Searches the contents of files by regular expression with ripgrep. By output_mode it returns {matches: [{path, line, text, before?, after?}]}, {files: [path]} or {counts: [{path, matches}]}, each with total (null when unknown) and truncated. Paths are relative to the workspace root and sorted.
No match is an empty list, not an error. Long lines are cut. Hidden files and those that .gitignore names are left out unless include_ignored is set; binary files always are, and are named in binary_files when they match. Escape ( ) [ ] { } . * + ? | ^ $ \\ to find them literally.`,
  effect: 'read',
  risk: 'low',
  input: grepInput,
  async execute(context, args) {
    // Tells a path that is missing or outside, as every other tool does; ripgrep would only say that it cannot open it.
    await context.files.stat(args.path, context.signal);
    const result = await context.run({ argv: [context.ripgrep, ...ripgrepFlags(args)], limits: { wall_ms: WALL_MS } });
    return { ...outcome(result, args), capabilities: result.capabilities };
  },
});

const WALL_MS = 60_000;

function outcome({ end, stdout, stderr }: CommandResult, args: GrepArgs): ToolOutcome {
  const flooded = end.status === 'quota' && end.quota === 'output';
  if (end.status !== 'exited' && !flooded) return cutShort(end, 'The search');
  const stats = parseStats(stdout.text);
  if (end.status === 'exited' && (end.exit_code > 2 || end.signal !== null)) return broken(stderr);
  if (end.status === 'exited' && end.exit_code === 2 && stats === null) return refused(stderr, args);
  const value = {
    ...results(stdout, args, stats),
    // Exit code 2 after a search: some files could not be read.
    ...(end.status === 'exited' &&
      end.exit_code === 2 && { warnings: stderr.text.trimEnd().split('\n').slice(0, MAX_WARNINGS) }),
  };
  return { status: 'succeeded', value };
}

const MAX_WARNINGS = 20;

function results(
  stdout: CapturedStream,
  args: GrepArgs,
  stats: ReturnType<typeof parseStats>,
): Record<string, unknown> {
  const output = beginning(stdout);
  const limited = <Item>({ items, binary }: GrepOutput<Item>, total: number | undefined) => ({
    items: items.slice(0, args.max_results),
    rest: {
      total: stdout.truncated ? (total ?? null) : items.length,
      truncated: stdout.truncated || items.length > args.max_results,
      ...(binary.length > 0 && { binary_files: binary }),
    },
  });
  switch (args.output_mode) {
    case 'content': {
      const { items, rest } = limited(parseMatches(output, args.context), stats?.lines);
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
      return args.output_mode satisfies never;
  }
}

/** Of a stream that was cut in the middle only the beginning is whole. */
function beginning({ text, truncated }: CapturedStream): string {
  return truncated ? Buffer.from(text).subarray(0, KEPT_BYTES).toString() : text;
}

/** The sandbox keeps 32 KiB from the beginning of a stream, less a character that was cut; then it puts a line that says so. */
const KEPT_BYTES = 32 * 1024 - 4;

function refused(stderr: CapturedStream, { glob }: GrepArgs): Failure {
  const said = stderr.text.trim();
  if (glob !== undefined && said.includes('error parsing glob')) {
    return failure('EINVALIDGLOB', said, 'Correct the glob.');
  }
  return failure(
    'EINVALIDPATTERN',
    said,
    'Correct the pattern: escape characters that are meant literally; there is no look-around, no back-reference and no line break.',
  );
}

function broken(stderr: CapturedStream): Failure {
  return failure('EGREP', `ripgrep failed: ${stderr.text.trim()}`, 'Search with bash and grep instead.');
}
