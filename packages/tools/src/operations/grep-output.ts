/**
 * Reads ripgrep's text output: `path NUL line (: or -) text LF`. Its JSON cannot limit the length of a line, so a minified file would fill
 * the output; the text output can (`--max-columns`), and the NUL keeps every file name unambiguous.
 */
export interface GrepOutput<Item> {
  items: Item[];
  /** Binary files with a match. ripgrep does not show them or does not search them to the end. */
  binary: string[];
}

export interface GrepMatch {
  path: string;
  line: number;
  text: string;
  before?: string[];
  after?: string[];
}

/** @param context lines requested before and after a match */
export function parseMatches(output: string, context: { before: number; after: number }): GrepOutput<GrepMatch> {
  const { items: lines, binary } = parseLines(output);
  const byPlace = new Map(lines.map((line) => [place(line.path, line.line), line.text]));
  const around = (path: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => byPlace.get(place(path, from + index))).filter(
      (text) => text !== undefined,
    );
  const items = lines
    .filter(({ matched }) => matched)
    .map(({ path, line, text }) => ({
      path,
      line,
      text,
      ...(context.before > 0 && { before: around(path, Math.max(line - context.before, 1), line) }),
      ...(context.after > 0 && { after: around(path, line + 1, line + 1 + context.after) }),
    }));
  return { items, binary };
}

export function parseFiles(output: string): GrepOutput<string> {
  const parts = output.split('\0');
  const { paths, binary } = withoutNotices(parts.slice(0, -1));
  return { items: paths, binary };
}

/** With `--crlf` ripgrep ends these lines with CR LF. */
export function parseCounts(output: string): GrepOutput<{ path: string; matches: number }> {
  const binary: string[] = [];
  const items: { path: string; matches: number }[] = [];
  let at = 0;
  for (let nul = output.indexOf('\0'); nul !== -1; nul = output.indexOf('\0', at)) {
    const newline = output.indexOf('\n', nul);
    const [, count] = /^(\d+)\r?$/.exec(output.slice(nul + 1, newline === -1 ? nul + 1 : newline)) ?? [];
    if (count !== undefined) {
      const cleaned = withoutNotices([output.slice(at, nul)]);
      binary.push(...cleaned.binary);
      items.push({ path: cleaned.paths[0] ?? '', matches: Number(count) });
    }
    at = count === undefined ? nul + 1 : newline + 1;
  }
  return { items, binary };
}

/** Totals of a whole search, whatever a result shows. A line may have several matches. */
export interface SearchTotals {
  matches: number;
  lines: number;
  files: number;
}

/** The totals at the end of the output, from `--stats`; null when ripgrep did not search or its output was cut. */
export function parseStats(output: string): SearchTotals | null {
  const [, matches, lines, files] =
    /\n(\d+) matches\n(\d+) matched lines\n(\d+) files contained matches\n(?:.+\n)*$/.exec(
      output.slice(-longestStats),
    ) ?? [];
  if (matches === undefined || lines === undefined || files === undefined) return null;
  return { matches: Number(matches), lines: Number(lines), files: Number(files) };
}

/** Usually about 200 characters. */
const longestStats = 2000;

interface Line {
  path: string;
  line: number;
  text: string;
  matched: boolean;
}

function parseLines(output: string): GrepOutput<Line> {
  const items: Line[] = [];
  const binary: string[] = [];
  let at = 0;
  for (let nul = output.indexOf('\0'); nul !== -1; nul = output.indexOf('\0', at)) {
    const newline = output.indexOf('\n', nul);
    // The last line was cut off.
    if (newline === -1) return { items, binary };
    const cleaned = withoutNotices([output.slice(at, nul)]);
    binary.push(...cleaned.binary);
    const [path = ''] = cleaned.paths;
    const [, line, mark, text = ''] = /^(\d+)([:-])(.*)$/s.exec(output.slice(nul + 1, newline)) ?? [];
    if (line !== undefined)
      items.push({ path, line: Number(line), text: text.replace(/\r$/, ''), matched: mark === ':' });
    at = newline + 1;
  }
  binary.push(...withoutNotices([output.slice(at)]).binary);
  return { items, binary };
}

/** ripgrep prints its notices about binary files on separate lines without NUL, so they appear before the next path. */
const noticePattern =
  /^(.*?): (?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n]*\)\n/s;

function withoutNotices(chunks: readonly string[]): { paths: string[]; binary: string[] } {
  const binary: string[] = [];
  const paths = chunks.map((chunk) => {
    let rest = chunk;
    for (let notice = noticePattern.exec(rest); notice; notice = noticePattern.exec(rest)) {
      binary.push(shownPath(notice[1] ?? ''));
      rest = rest.slice(notice[0].length);
    }
    return shownPath(rest);
  });
  return { paths, binary };
}

function shownPath(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

function place(path: string, line: number): string {
  return `${line}\0${path}`;
}
