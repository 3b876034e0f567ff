import type { LongResult } from '@holdpoint/contract';

/**
 * The lines of the first failures in the report of a test runner; none for any other text. Each failure has the lines from its first line to
 * the next failure, or to a line about a test that passed. Pure.
 */
function failureLines(lines: readonly string[], { most }: { most: number }): LineRange[] {
  const starts = startsOf(lines);
  let left = most;
  const ranges: LineRange[] = [];
  for (const [index, from] of starts.entries()) {
    const whole = lines.slice(from, Math.min(endOf(lines, from, starts[index + 1]), from + longestFailure));
    const count = Math.max(countFitting(whole, left), ranges.length === 0 ? 1 : 0);
    if (count === 0) break;
    ranges.push({ from, to: from + count });
    left -= Buffer.byteLength(whole.slice(0, count).join('\n')) + 1;
    if (count < whole.length) break;
  }
  return ranges;
}

/** Lines of one failure: enough for a difference of values and a stack. */
const longestFailure = 120;

/** The details of failures stand below a heading in most reports: lines above it only name the failures, and are left out. */
function startsOf(lines: readonly string[]): number[] {
  const heading = lines.findIndex((line) => headings.some((pattern) => pattern.test(line)));
  const patterns = heading === -1 ? failures : [...failures, numbered];
  const starts = lines.flatMap((line, at) => (at >= heading && patterns.some((one) => one.test(line)) ? [at] : []));
  if (heading === -1 || starts[0] === heading) return starts;
  return [heading, ...starts.filter((at) => at > heading + 3)];
}

function endOf(lines: readonly string[], from: number, next = lines.length): number {
  const passed = lines.slice(from + 1, next).findIndex((line) => passes.some((pattern) => pattern.test(line)));
  return passed === -1 ? next : from + 1 + passed;
}

/** Headings above the details of all failures. */
const headings: readonly RegExp[] = [
  // pytest
  /^=+ (FAILURES|ERRORS) =+$/,
  // vitest
  /^⎯+ *(Failed (Tests|Suites) \d+|Unhandled Errors) *⎯+/,
  // jest, with the summary of many failures
  /^Summary of all failing tests$/,
  // mocha
  /^ {0,4}\d+ failing$/,
  // cargo test and libtest
  /^failures:$/,
  // the test runner of Node
  /^✖ failing tests:$/,
  // RSpec, PHPUnit
  /^Failures:$/,
  /^There (was 1|were \d+) (failure|error)s?:$/,
  // Maven Surefire
  /^\[ERROR\] (Failures|Errors): *$/,
];

/** mocha, RSpec and PHPUnit number failures. Without a heading above it, such a line is any list. */
const numbered = /^ {0,6}\d+\) \S/;

/** The first line of one failure. No pattern needs more than linear time: the line may be hostile. */
const failures: readonly RegExp[] = [
  // pytest
  /^_{3,} .+ _{3,}$/,
  // vitest and jest
  /^ ?FAIL {1,2}\S/,
  /^ {2}● .+/,
  // go test
  /^ *--- FAIL: /,
  /^panic: /,
  // cargo test
  /^---- .+ stdout ----$/,
  /^thread '.+' (\(\d+\) )?panicked at /,
  // TAP
  /^ *not ok \d+(?!.*# (TODO|SKIP))/i,
  // unittest of Python
  /^(FAIL|ERROR): \w+ \(/,
  // JUnit: Maven, Gradle, and reports in XML
  /<<< (FAILURE|ERROR)!/,
  /^[^\s>][^>]* > [^>]+ FAILED$/,
  /^\s*<(failure|error)[\s>]/,
  // dotnet test, CTest
  /^ {2}Failed \S[^[]* \[[^\]]+\]$/,
  /\*\*\*(Failed|Exception|Timeout)/,
];

/** A line about a test that passed ends the lines of the failure before it. */
const passes: readonly RegExp[] = [
  /^ *ok \d+/,
  /^ *[✓✔√] /,
  /^ ?PASS {1,2}\S/,
  /^ *--- (PASS|SKIP): /,
  /^=== RUN /,
  /^ok\s+\S+\s/,
  /^test .+ \.\.\. (ok|ignored)$/,
];

export interface LongTextInput {
  text: string;
  /** The stderr of a command, which follows the text. */
  stderr?: string | undefined;
  /** Most bytes of the parts together. */
  most: number;
  /** The text is the output of a command, so it may be the report of a test runner. */
  isOutput: boolean;
}

export interface LongText
  extends Pick<LongResult, 'bytes' | 'lines' | 'parts' | 'failures' | 'folded' | 'stderr_line'> {
  /** The whole text, for a file. */
  whole: string;
}

/**
 * The parts of a long text for a model: both ends, and the first failures of a test runner in preference to the rest of its middle. Pure.
 */
export function longText({ text, stderr = '', most, isOutput }: LongTextInput): LongText {
  const [out, err] = [fold(text), fold(stderr)];
  const lines = [...out.lines, ...err.lines];
  const whole = lines.join('\n');
  return {
    whole,
    bytes: Buffer.byteLength(whole),
    lines: lines.length,
    ...partsOf(lines, most, isOutput),
    ...((out.isFolded || err.isFolded) && { folded: true }),
    ...(err.lines.length > 0 && out.lines.length > 0 && { stderr_line: out.lines.length + 1 }),
  };
}

function partsOf(lines: readonly string[], most: number, isOutput: boolean): Pick<LongText, 'parts' | 'failures'> {
  const failed = isOutput ? failureLines(lines, { most: most * shares.failures }) : [];
  const rest = failed.length === 0 ? { head: 0.4, tail: 0.6 } : shares;
  const head = { from: 0, to: countFitting(lines, most * rest.head) };
  const tail = { from: lines.length - countFitting(lines.toReversed(), most * rest.tail), to: lines.length };
  const parts = joined([head, ...failed, tail]);
  return {
    parts: parts.map(({ from, to }) => ({ line: from + 1, text: lines.slice(from, to).join('\n') })),
    ...(failed.length > 0 && { failures: true }),
  };
}

/** A runner names its counts at its end, so the end has more than the beginning. */
const shares = { head: 0.15, failures: 0.5, tail: 0.35 };

/** Characters of a line in the file: `read_file` and `grep` cut longer lines, and nothing else would show the rest. */
const longestLine = 2000;

/** The lines of a text, with long lines broken. */
function fold(text: string): { lines: string[]; isFolded: boolean } {
  if (text === '') return { lines: [], isFolded: false };
  const lines = text.split('\n');
  const folded = lines.flatMap((line) => (line.length <= longestLine ? [line] : [...piecesOf(line)]));
  return { lines: folded, isFolded: folded.length > lines.length };
}

/** Never breaks a surrogate pair. */
function* piecesOf(line: string): Generator<string> {
  for (let at = 0; at < line.length; ) {
    const end = /[\ud800-\udbff]/.test(line[at + longestLine - 1] ?? '') ? longestLine - 1 : longestLine;
    yield line.slice(at, at + end);
    at += end;
  }
}

/** Ranges in order, without the lines that two of them have. */
function joined(ranges: readonly LineRange[]): LineRange[] {
  const all: LineRange[] = [];
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) all.push({ from, to });
  }
  return all;
}

/** Lines, from `from` to before `to`. */
interface LineRange {
  from: number;
  to: number;
}

/** How many lines from the beginning have at most this many bytes. */
function countFitting(lines: readonly string[], most: number): number {
  let left = most;
  const over = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return over === -1 ? lines.length : over;
}
