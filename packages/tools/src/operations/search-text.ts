import type { CapturedStream, CommandResult, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { cutShort, type Failure, failure } from './cut-short.ts';
import * as grepOutput from './grep-output.ts';
import { ripgrepFlags, type TextQuery } from './ripgrep-flags.ts';

/** Searches the contents of files by regular expression with ripgrep. */
export async function searchText(
  context: ToolContext,
  query: TextQuery & { max_results: number },
): Promise<ToolOutcome> {
  const { result, found } = await findText(context, query, { wall_ms: wallMs, kept_bytes: keptBytes, partial: false });
  const { capabilities } = result;
  if ('error' in found) return { ...found, capabilities };
  const { items, cut, totals, binary, warnings } = found;
  const key = { content: 'matches', files: 'files', count: 'counts' }[query.output_mode];
  const total = query.output_mode === 'content' ? totals?.lines : totals?.files;
  const value = {
    [key]: items.slice(0, query.max_results),
    total: cut ? (total ?? null) : items.length,
    truncated: cut || items.length > query.max_results,
    ...(binary.length > 0 && { binary_files: binary }),
    ...(warnings.length > 0 && { warnings }),
  };
  return { status: 'succeeded', value, capabilities };
}

const wallMs = 60_000;
/** Bytes kept in a result by default. */
const keptBytes = 65_536;

interface SearchBounds {
  wall_ms: number;
  /** Bytes of ripgrep's output. When there is more, the first half of them is read. */
  kept_bytes: number;
  output_bytes?: number;
  /** Whether the findings so far are a result at the end of the time. */
  partial: boolean;
}

export type FoundText<Mode extends TextQuery['output_mode'] = TextQuery['output_mode']> = {
  items: FoundItem[Mode][];
  /** Whether `items` are only the first ones. */
  cut: boolean;
  /** Null when the search did not end. */
  totals: grepOutput.SearchTotals | null;
  timed_out: boolean;
  /** Binary files with a match. */
  binary: string[];
  /** Why files could not be read. */
  warnings: string[];
};

interface FoundItem {
  content: grepOutput.GrepMatch;
  files: string;
  count: { path: string; matches: number };
}

/** @throws FileError when the path to search is missing or outside */
export async function findText<Mode extends TextQuery['output_mode']>(
  context: ToolContext,
  query: TextQuery & { output_mode: Mode },
  { partial, wall_ms, kept_bytes, output_bytes }: SearchBounds,
): Promise<{ result: CommandResult; found: FoundText<Mode> | Failure }> {
  const search = (order: 'path' | 'any', ms: number) => {
    const limits = output_bytes === undefined ? { wall_ms: ms } : { wall_ms: ms, output_bytes };
    return context.search({ path: query.path, args: ripgrepFlags(query, order), limits, kept_bytes });
  };
  let result = await search('any', wall_ms);
  const left = Math.floor(wall_ms - result.duration_ms);
  // The beginning of a search by threads varies between searches.
  if (isIncomplete(result) && left > 0) result = await search('path', left);
  const { end, stdout, stderr } = result;
  const flooded = end.status === 'quota' && end.quota === 'output';
  const timedOut = end.status === 'timed_out';
  if (end.status !== 'exited' && !flooded && !(timedOut && partial)) {
    return { result, found: { ...cutShort(end, 'The search'), value: undefined } };
  }
  const totals = grepOutput.parseStats(stdout.text);
  if (end.status === 'exited' && (end.exit_code > 2 || end.signal !== null)) return { result, found: broken(stderr) };
  if (end.status === 'exited' && end.exit_code === 2 && totals === null) {
    return { result, found: refused(stderr, query) };
  }
  const { items, binary } = parse(beginning(stdout, kept_bytes), query);
  // Exit code 2 after a search: some files could not be read.
  const unread = end.status === 'exited' && end.exit_code === 2;
  const warnings = unread ? stderr.text.trimEnd().split('\n').sort().slice(0, maxWarnings) : [];
  const cut = stdout.truncated || (timedOut && partial);
  return {
    result,
    found: { items: items as FoundItem[Mode][], cut, totals, timed_out: timedOut, binary, warnings },
  };
}

/** The output was longer than the kept part, or ripgrep failed, for example without a free thread. */
const isIncomplete = ({ end, stdout }: CommandResult): boolean =>
  end.status === 'exited'
    ? stdout.truncated || end.exit_code > 2 || end.signal !== null
    : end.status === 'quota' && end.quota === 'output';

const maxWarnings = 20;

function parse(output: string, query: TextQuery): grepOutput.GrepOutput<FoundItem[TextQuery['output_mode']]> {
  switch (query.output_mode) {
    case 'content':
      return sorted(grepOutput.parseMatches(output, query), ({ path }) => path);
    case 'files':
      return sorted(grepOutput.parseFiles(output), (path) => path);
    case 'count':
      return sorted(grepOutput.parseCounts(output), ({ path }) => path);
    default:
      return query.output_mode satisfies never;
  }
}

const sorted = <Item>(
  { items, binary }: grepOutput.GrepOutput<Item>,
  pathOf: (item: Item) => string,
): grepOutput.GrepOutput<Item> => ({
  items: inPathOrder(items, pathOf),
  binary: inPathOrder(binary, (path) => path),
});

/** Only the beginning of a cut stream is complete, but for a partial character at its end. */
export function beginning({ text, truncated }: CapturedStream, kept_bytes: number): string {
  return truncated
    ? Buffer.from(text)
        .subarray(0, Math.ceil(kept_bytes / 2) - 4)
        .toString()
    : text;
}

function refused(stderr: CapturedStream, { glob, type }: TextQuery): Failure {
  const said = stderr.text.trim();
  if (glob !== undefined && said.includes('error parsing glob')) {
    return failure('EINVALIDGLOB', said, 'Correct the glob.');
  }
  if (type !== undefined && said.includes('unrecognized file type')) {
    return failure('EINVALIDTYPE', said, 'Use a file type of ripgrep, such as ts, py or rust, or a glob.');
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

/** Sorts as ripgrep and git do: by the bytes of each name, a folder where its name stands. Items with the same path keep their order. */
export function inPathOrder<Item>(items: readonly Item[], pathOf: (item: Item) => string): Item[] {
  // A separator sorts before every other byte.
  const keyed = items.map((item) => ({ item, key: Buffer.from(pathOf(item).replaceAll('/', '\0')) }));
  return keyed.sort((one, other) => Buffer.compare(one.key, other.key)).map(({ item }) => item);
}
