import { countFitting, type LineRange } from './line-ranges.ts';

/**
 * The lines of the first failures in the report of a test runner; none for any other text. Each failure has the lines from its first line to
 * the next failure, or to a line about a test that passed. Pure.
 */
export function failureLines(lines: readonly string[], { most }: { most: number }): LineRange[] {
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
