import { type NearestLine, nearestLine } from './nearest-line.ts';

export interface Replacement {
  old_string: string;
  new_string: string;
  replace_all: boolean;
}

export type ReplaceResult =
  | { status: 'replaced'; data: Buffer; lines: number[] }
  | { status: 'no_match'; nearest: NearestLine | null }
  | { status: 'multiple'; count: number; lines: number[] };

/**
 * Replaces text in a file byte for byte: line endings, a byte order mark, a missing last newline and bytes that are not UTF-8 stay
 * as they are, and the new text is taken literally.
 *
 * Without `replace_all` the old text must occur once; occurrences that overlap count, since which of them is meant is as open.
 */
export function replaceText(data: Buffer, { old_string, new_string, replace_all }: Replacement): ReplaceResult {
  const wanted = Buffer.from(old_string);
  const offsets = occurrences(data, wanted, replace_all ? wanted.length : 1);
  if (offsets.length === 0) return { status: 'no_match', nearest: nearestLine(data, old_string) };
  const lines = lineNumbers(data, offsets);
  if (offsets.length > 1 && !replace_all) return { status: 'multiple', count: offsets.length, lines };
  return { status: 'replaced', data: splice(data, offsets, wanted.length, Buffer.from(new_string)), lines };
}

/** @param stride how far past the start of an occurrence the next one may start */
function occurrences(data: Buffer, wanted: Buffer, stride: number): number[] {
  const offsets: number[] = [];
  for (let at = data.indexOf(wanted); at !== -1; at = data.indexOf(wanted, at + stride)) offsets.push(at);
  return offsets;
}

/** @param offsets ascending */
function lineNumbers(data: Buffer, offsets: readonly number[]): number[] {
  let line = 1;
  let newline = data.indexOf(NEWLINE);
  return offsets.map((offset) => {
    while (newline !== -1 && newline < offset) {
      line += 1;
      newline = data.indexOf(NEWLINE, newline + 1);
    }
    return line;
  });
}

function splice(data: Buffer, offsets: readonly number[], length: number, replacement: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const offset of offsets) {
    parts.push(data.subarray(from, offset), replacement);
    from = offset + length;
  }
  parts.push(data.subarray(from));
  return Buffer.concat(parts);
}

const NEWLINE = 0x0a;
