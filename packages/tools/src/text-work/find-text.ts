import { bigramsOf, likeness } from './likeness.ts';
import { decodeText, splitLines } from './text.ts';

/** The most likely position of a missing text. */
export interface NearestLine {
  /** Counted from 1. */
  line: number;
  /** The file's text at this line: as many lines as the wanted text when only whitespace differs, otherwise a single line. */
  text: string;
  /** The only difference, or null when the words differ. */
  differs_in: 'line_endings' | 'whitespace' | null;
}

/** Finds the nearest match of a text missing in the file; null without any similar line. Looks at the first 100,000 lines. */
export function nearestLine(data: Buffer, wanted: string): NearestLine | null {
  const lines = splitLines(decodeText(data.subarray(0, endOfLine(data, maxLines))).text);
  return (
    sameLines(lines, wanted, 'line_endings') ?? sameLines(lines, wanted, 'whitespace') ?? likestLine(lines, wanted)
  );
}

/** 100,000 lines take about 150 ms: enough for a hint. */
const maxLines = 100_000;

/** The offset after the given number of lines. */
function endOfLine(data: Buffer, lines: number): number {
  let end = 0;
  for (let line = 0; line < lines; line++) {
    const newline = data.indexOf(0x0a, end);
    if (newline === -1) return data.length;
    end = newline + 1;
  }
  return end;
}

const normalForms = {
  line_endings: (line: string) => line.replace(/\r?\n$/, ''),
  whitespace: (line: string) => line.trim().replaceAll(/\s+/g, ' '),
};

/** Finds consecutive lines equal to the wanted lines except for a single kind of difference. Takes linear time. */
function sameLines(lines: readonly string[], wanted: string, kind: keyof typeof normalForms): NearestLine | null {
  const normal = normalForms[kind];
  const target = splitLines(wanted).map(normal);
  const [first, ...rest] = target;
  if (first === undefined || target.every((line) => line === '')) return null;
  const file = lines.map(normal);
  // The wanted text may begin within a line. The text may also end within a line, unless its last character is a newline.
  const open = !wanted.endsWith('\n');
  const last = rest.at(-1);
  const fits = (start: number) => {
    if (last === undefined && open) return holds(file[start] ?? '', first);
    const end = file[start + rest.length];
    if (last !== undefined && !(open ? end?.startsWith(last) : end === last)) return false;
    return file[start]?.endsWith(first) === true;
  };
  const start = findBetween(file, rest.slice(0, -1), fits);
  if (start === -1) return null;
  return { line: start + 1, text: shown(lines.slice(start, start + target.length).join('')), differs_in: kind };
}

/** `includes` takes time in the product of both lengths for repetitive texts. */
function holds(line: string, part: string): boolean {
  if (part.length > line.length) return false;
  if (part.length < 64) return line.includes(part);
  let found = false;
  findText(Buffer.from(line), Buffer.from(part), { overlapping: false }, () => {
    found = true;
    return false;
  });
  return found;
}

/** The first line where `fits` is true and the inner lines follow. */
function findBetween(file: readonly string[], inner: readonly string[], fits: (start: number) => boolean): number {
  if (inner.length === 0) return file.findIndex((_, index) => fits(index));
  // Equal lines get equal numbers.
  const numbers = new Map<string, number>();
  const numbered = (line: string) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const wanted = inner.map(numbered);
  let found = -1;
  findSequence(file.map(numbered), wanted, { overlapping: true }, (offset) => {
    if (offset > 0 && fits(offset - 1)) found = offset - 1;
    return found === -1;
  });
  return found;
}

/** The line most similar to the first non-blank line of the wanted text. */
function likestLine(lines: readonly string[], wanted: string): NearestLine | null {
  const target = bigramsOf(splitLines(wanted.slice(0, maxSearched)).find((line) => line.trim() !== '') ?? '');
  let best = { index: -1, likeness: minLikeness };
  for (const [index, line] of lines.slice(0, maxLikened).entries()) {
    const like = likeness(target, bigramsOf(line));
    if (like > best.likeness) best = { index, likeness: like };
  }
  const line = lines[best.index];
  return line === undefined ? null : { line: best.index + 1, text: shown(line), differs_in: null };
}

const minLikeness = 0.3;
/** 20,000 lines take about 60 ms: enough for a hint. */
const maxLikened = 20_000;
/** Characters of the wanted text in the search for its first line. */
const maxSearched = 10_000;
const maxShown = 1000;

function shown(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/**
 * Calls `visit` with the offset of each occurrence, in order, until `visit` returns false. Knuth-Morris-Pratt looks at each byte a bounded
 * number of times for any search text. `Buffer.indexOf` starts again behind each occurrence: 20 s for 20 KB in 4 MB of the same byte.
 *
 * @param overlapping whether an occurrence may begin within the previous one
 */
export function findText(
  data: Uint8Array,
  wanted: Uint8Array,
  { overlapping }: { overlapping: boolean },
  visit: (offset: number) => boolean,
): void {
  findSequence(data, wanted, { overlapping }, visit);
}

/** Finds a sequence of numbers, such as numbered lines, by the same algorithm. An empty sequence occurs nowhere. */
export function findSequence(
  data: ArrayLike<number>,
  wanted: ArrayLike<number>,
  { overlapping }: { overlapping: boolean },
  visit: (offset: number) => boolean,
): void {
  const { length } = wanted;
  if (length === 0) return;
  const back = fallbacks(wanted);
  let matched = 0;
  for (let at = 0; at < data.length; at++) {
    const next = data[at];
    while (matched > 0 && wanted[matched] !== next) matched = back[matched - 1] ?? 0;
    if (wanted[matched] === next) matched += 1;
    if (matched < length) continue;
    if (!visit(at - length + 1)) return;
    matched = overlapping ? (back[length - 1] ?? 0) : 0;
  }
}

/** For each prefix of the sequence: the length of its longest proper suffix equal to a prefix. */
function fallbacks(wanted: ArrayLike<number>): Int32Array {
  const back = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[matched] !== wanted[at]) matched = back[matched - 1] ?? 0;
    if (wanted[matched] === wanted[at]) matched += 1;
    back[at] = matched;
  }
  return back;
}
