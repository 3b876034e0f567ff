import { isUtf8 } from 'node:buffer';
import { wholeCharacters } from './whole-characters.ts';

export interface LineRangeInput {
  data: Buffer;
  /** First line, counted from 1. @default the first */
  start?: number | undefined;
  /** Last line. @default the last */
  end?: number | undefined;
  /** The data is the beginning of a larger file: its last character may be in part. @default false */
  cut?: boolean;
}

/** Lines as they are in the file: with their ends, a byte order mark included. */
export interface TextLines {
  text: string;
  /** The lines of `text`, counted from 1; 0 when there are none. */
  first: number;
  last: number;
  total_lines: number;
  /** A NUL byte is in the first 8,192 bytes, or some bytes are not UTF-8. */
  binary: boolean;
}

const newline = 0x0a;
const sniffed = 8192;

/** Reads lines in a single pass over the bytes. A last line without a line end counts, and an empty file has no lines. */
export function lineRange({ data, start = 1, end = Number.POSITIVE_INFINITY, cut = false }: LineRangeInput): TextLines {
  const body = cut ? wholeCharacters(data) : data;
  let line = 1;
  let from = start === 1 ? 0 : -1;
  let to = -1;
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== newline) continue;
    if (line === end) to = at + 1;
    line += 1;
    if (line === start) from = at + 1;
  }
  const endsOpen = body.length > 0 && body[body.length - 1] !== newline;
  const total = endsOpen ? line : line - 1;
  const isThere = from !== -1 && from < body.length;
  return {
    text: isThere ? body.toString('utf8', from, to === -1 ? body.length : to) : '',
    first: isThere ? start : 0,
    last: isThere ? Math.min(end, total) : 0,
    total_lines: total,
    binary: body.subarray(0, sniffed).includes(0) || !isUtf8(body),
  };
}
