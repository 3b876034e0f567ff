import { findSequence, nearestLine } from './find-text.ts';
import type { PatchHunk } from './patch-envelope.ts';
import { maxTextFile, splitLines } from './text.ts';

export interface HunksInput {
  data: Buffer;
  hunks: readonly PatchHunk[];
}

/** `hunk` counts from 1. `nearest`: the place of the file that is most like the missing lines. */
export type AppliedHunks =
  | { status: 'applied'; data: Buffer }
  | { status: 'mismatch'; hunk: number; detail: string; nearest: ReturnType<typeof nearestLine> }
  | { status: 'too_large'; bytes: number };

/**
 * Applies hunks in their order, all or none. The lines of a hunk are found by content, below the hunk before and below its anchors; the
 * first place counts. Spaces at the end of a line and line endings may differ: lines that stay keep all their bytes, and new lines end as the
 * lines around them. Whether the file ends with a line break stays as it was.
 */
export function applyHunks({ data, hunks }: HunksInput): AppliedHunks {
  // A character per byte: bytes outside of UTF-8 survive.
  const lines = splitLines(data.toString('latin1'));
  const file = { lines, exact: index(lines, exact), bare: index(lines, bare) };
  const out: string[] = [];
  let from = 0;
  for (const [number, hunk] of hunks.entries()) {
    const before = hunk.lines.flatMap(({ kind, text }) => (kind === '+' ? [] : [asBytes(text)]));
    const place = findPlace(file, { hunk, before, from });
    if ('missing' in place) {
      const { missing, wanted } = place;
      return { status: 'mismatch', hunk: number + 1, detail: missing, nearest: nearestLine(data, wanted) };
    }
    for (let at = from; at < place.start; at++) out.push(lines[at] ?? '');
    out.push(...changed(lines, place.start, hunk));
    from = place.start + before.length;
  }
  for (let at = from; at < lines.length; at++) out.push(lines[at] ?? '');
  const result = Buffer.from(joined(out, lines), 'latin1');
  if (result.length > maxTextFile && result.length > data.length) return { status: 'too_large', bytes: result.length };
  return { status: 'applied', data: result };
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

const exact = (line: string): string => (line.endsWith('\n') ? line.slice(0, -1) : line);

/** Without spaces and line endings behind. No `\s`: some of its characters are bytes inside of UTF-8 characters here. */
function bare(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

function trimmed(line: string): string {
  const text = bare(line);
  let start = 0;
  while (start < text.length && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;

/** The lines of a file as numbers: equal lines have equal numbers. */
interface Index {
  numbers: Int32Array;
  numberOf(wanted: string): number;
}

function index(lines: readonly string[], form: (line: string) => string): Index {
  const known = new Map<string, number>();
  const numbers = Int32Array.from(lines, (line) => {
    const key = form(line);
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  });
  return { numbers, numberOf: (wanted) => known.get(form(wanted)) ?? -1 };
}

interface File {
  lines: readonly string[];
  exact: Index;
  bare: Index;
}

type Place = { start: number } | { missing: string; wanted: string };

function findPlace(
  file: File,
  { hunk, before, from }: { hunk: PatchHunk; before: readonly string[]; from: number },
): Place {
  let below = from;
  for (const anchor of hunk.anchors) {
    const at = findAnchor(file, asBytes(anchor), below);
    if (at === -1)
      return { missing: `no line below line ${below} is ${JSON.stringify(anchor)}, as its @@ says`, wanted: anchor };
    below = at + 1;
  }
  const isAnchored = hunk.anchors.length > 0 && !hunk.atEnd;
  if (before.length === 0) return { start: isAnchored ? below : file.lines.length };
  // The line of the last anchor may be the first line of the hunk as well.
  const starts = isAnchored ? [below, Math.max(below - 1, from)] : [below];
  if (hunk.atEnd) starts[0] = Math.max(file.lines.length - before.length, below);
  for (const by of [file.exact, file.bare]) {
    for (const start of starts) {
      const found = findLines(by, before, start);
      if (found !== -1) return { start: found };
    }
  }
  const wanted = hunk.lines.flatMap(({ kind, text }) => (kind === '+' ? [] : [`${text}\n`])).join('');
  const where = hunk.atEnd ? ' at the end of the file' : below === 0 ? '' : ` below line ${below}`;
  return { missing: `its old lines (${before.length}) are not in the file in this order${where}`, wanted };
}

function findAnchor({ lines, bare: by }: File, anchor: string, from: number): number {
  const same = by.numbers.indexOf(by.numberOf(anchor), from);
  if (same !== -1) return same;
  const wanted = trimmed(anchor);
  return lines.findIndex((line, at) => at >= from && trimmed(line) === wanted);
}

/** The first place from `start` on; -1: there is none. */
function findLines({ numbers, numberOf }: Index, wanted: readonly string[], start: number): number {
  let found = -1;
  findSequence(numbers.subarray(start), wanted.map(numberOf), { overlapping: true }, (offset) => {
    found = start + offset;
    return false;
  });
  return found;
}

/** Lines that stay are the file's own. */
function changed(lines: readonly string[], start: number, hunk: PatchHunk): string[] {
  let at = start;
  return hunk.lines.flatMap(({ kind, text }) => {
    if (kind === '+') return [`${asBytes(text)}${endingNear(lines, at)}`];
    at += 1;
    return kind === ' ' ? [lines[at - 1] ?? ''] : [];
  });
}

/** The ending of the line before, of the line at this place, or of the first line. */
function endingNear(lines: readonly string[], at: number): string {
  const near = [lines[at - 1], lines[at], lines[0]].find((line) => line?.endsWith('\n'));
  return near?.endsWith('\r\n') ? '\r\n' : '\n';
}

function joined(out: readonly string[], before: readonly string[]): string {
  const isEnded = before.at(-1)?.endsWith('\n') ?? true;
  const whole = out.map((line) => (line.endsWith('\n') ? line : `${line}${endingNear(before, 0)}`)).join('');
  return isEnded ? whole : whole.replace(/\r?\n$/, '');
}
