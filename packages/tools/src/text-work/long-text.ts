import type { LongResult } from '@holdpoint/contract';
import { failureLines } from './failure-lines.ts';
import { countFitting, type LineRange } from './line-ranges.ts';

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
