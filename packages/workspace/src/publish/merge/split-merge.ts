import type { Deps } from '../../deps.ts';
import { createYielder, type Yielder } from '../../files/index.ts';
import { type BothHave, mergeFile } from './merge-folders.ts';

/** The bytes of both sides where their edits touch the same lines. */
export interface Hunk {
  /** The source's lines, and the run's lines, unchanged from their versions. */
  readonly source: Buffer;
  readonly run: Buffer;
  /** The source's lines, the last line with a line ending. Only at the end of the file the last line may lack the ending in `source`. */
  readonly sourceLines: Buffer;
}

/** A merged file: decided text, and conflicting hunks between. */
export type MergedPiece = Buffer | Hunk;

export const isHunk = (piece: MergedPiece): piece is Hunk => !Buffer.isBuffer(piece);

/**
 * Merges a file with git and takes the result apart at its conflict markers. The markers are too long to equal any line of the three
 * versions.
 */
export async function splitMerge(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; file: BothHave; versions: { source: Buffer; base: Buffer; run: Buffer } },
): Promise<MergedPiece[]> {
  const { versions } = input;
  const maybeYield = createYielder();
  const size = await freeMarkerSize([versions.source, versions.base, versions.run], maybeYield);
  const { content } = await mergeFile(deps, { ...input, flags: [`--marker-size=${size}`] });
  return splitAtMarkers(content, size, versions, maybeYield);
}

type Marker = '<' | '=' | '>';
const newline = 0x0a;
/** git's own size of a marker. */
const usualSize = 7;

/** The smallest size of a marker without a line of this beginning. */
async function freeMarkerSize(versions: readonly Buffer[], maybeYield: Yielder): Promise<number> {
  const used = new Set<number>();
  for (const version of versions) {
    for (const marker of ['<', '=', '>'] as const) {
      for (let at = lineWith(version, marker, usualSize, 0); at !== -1; ) {
        const end = endOfRun(version, at);
        used.add(end - at);
        await maybeYield();
        at = lineWith(version, marker, usualSize, end);
      }
    }
  }
  let size = usualSize;
  while (used.has(size)) size += 1;
  return size;
}

async function splitAtMarkers(
  merged: Buffer,
  size: number,
  versions: { source: Buffer; run: Buffer },
  maybeYield: Yielder,
): Promise<MergedPiece[]> {
  const pieces: MergedPiece[] = [];
  let at = 0;
  for (let open = markerAt(merged, '<', size, 0); open !== -1; open = markerAt(merged, '<', size, at)) {
    if (open > at) pieces.push(merged.subarray(at, open));
    const begin = afterLine(merged, open);
    const middle = markerAt(merged, '=', size, begin);
    const close = markerAt(merged, '>', size, middle + 1);
    const sourceLines = merged.subarray(begin, middle);
    const run = merged.subarray(afterLine(merged, middle), close);
    at = afterLine(merged, close);
    // git ends the last line of a file, to let a marker follow.
    const isLast = at === merged.length;
    const exact = (lines: Buffer, version: Buffer) => (isLast ? asInVersion(lines, version) : lines);
    pieces.push({ source: exact(sourceLines, versions.source), run: exact(run, versions.run), sourceLines });
    await maybeYield();
  }
  if (at < merged.length) pieces.push(merged.subarray(at));
  return pieces;
}

/** The last lines of a version without git's added line ending. */
function asInVersion(lines: Buffer, version: Buffer): Buffer {
  if (lines.length === 0 || version.at(-1) === newline) return lines;
  let start = version.length + 1;
  for (let left = countLines(lines); left > 0 && start > 0; left--) {
    start = start < 2 ? 0 : version.lastIndexOf(newline, start - 2) + 1;
  }
  return version.subarray(start);
}

export function countLines(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(newline); at !== -1; at = text.indexOf(newline, at + 1)) count += 1;
  return text.length > 0 && text.at(-1) !== newline ? count + 1 : count;
}

/** The beginning of a line equal to a marker of exactly this size; -1: nowhere. */
function markerAt(text: Buffer, marker: Marker, size: number, from: number): number {
  for (let at = lineWith(text, marker, size, from); at !== -1; at = lineWith(text, marker, size, endOfRun(text, at))) {
    if (endOfRun(text, at) - at === size) return at;
  }
  return -1;
}

/** Where a line begins with at least so many of the character; -1: nowhere. */
function lineWith(text: Buffer, marker: Marker, size: number, from: number): number {
  const wanted = marker.repeat(size);
  const isAtStart = from === 0 || text[from - 1] === newline;
  if (isAtStart && text.toString('latin1', from, from + size) === wanted) return from;
  const at = text.indexOf(`\n${wanted}`, from, 'latin1');
  return at === -1 ? -1 : at + 1;
}

function endOfRun(text: Buffer, from: number): number {
  const character = text[from];
  let at = from;
  while (text[at] === character) at += 1;
  return at;
}

const afterLine = (text: Buffer, from: number): number => {
  const at = text.indexOf(newline, from);
  return at === -1 ? text.length : at + 1;
};
