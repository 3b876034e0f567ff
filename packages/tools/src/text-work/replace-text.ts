import { findText, type NearestLine, nearestLine } from './find-text.ts';
import { cutDiff, unifiedDiff } from './patch.ts';
import { decodeText, maxTextFile } from './text.ts';

export interface Replacement {
  old_string: string;
  new_string: string;
  replace_all: boolean;
}

/** `lines`: the lines of the first occurrences. */
export type ReplaceResult =
  | { status: 'replaced'; data: Buffer; count: number; lines: number[] }
  | { status: 'no_match'; nearest: NearestLine | null }
  /** `more`: there are more than `count` occurrences; the rest were not counted. */
  | { status: 'multiple'; count: number; lines: number[]; more?: true }
  /** The new file would exceed the limit. */
  | { status: 'too_large'; bytes: number };

/** Most occurrences with listed lines. The search for a unique text stops at this number. */
const maxListed = 50;

/**
 * Replaces text in a file byte for byte: line endings, a byte order mark, a missing last newline and bytes outside of UTF-8 are kept,
 * and the new text is inserted literally. Takes linear time.
 *
 * Without `replace_all` the old text must occur once. Overlapping occurrences count, because they are as ambiguous.
 */
export function replaceText(data: Buffer, { old_string, new_string, replace_all }: Replacement): ReplaceResult {
  const wanted = Buffer.from(old_string);
  const replacement = Buffer.from(new_string);
  const listed: number[] = [];
  let count = 0;
  findText(data, wanted, { overlapping: !replace_all }, (offset) => {
    count += 1;
    if (count <= maxListed) listed.push(offset);
    return replace_all || count <= maxListed;
  });
  if (count === 0) return { status: 'no_match', nearest: nearestLine(data, old_string) };
  const lines = lineNumbers(data, listed);
  if (count > 1 && !replace_all) {
    return { status: 'multiple', count: listed.length, lines, ...(count > listed.length && { more: true }) };
  }
  const bytes = data.length + count * (replacement.length - wanted.length);
  if (bytes > maxTextFile && bytes > data.length) return { status: 'too_large', bytes };
  return { status: 'replaced', data: splice(data, { wanted, replacement, bytes }), count, lines };
}

/** @param offsets in ascending order */
function lineNumbers(data: Buffer, offsets: readonly number[]): number[] {
  let line = 1;
  let newline = data.indexOf(newlineByte);
  return offsets.map((offset) => {
    while (newline !== -1 && newline < offset) {
      line += 1;
      newline = data.indexOf(newlineByte, newline + 1);
    }
    return line;
  });
}

/** @param bytes the size of the result */
function splice(
  data: Buffer,
  { wanted, replacement, bytes }: { wanted: Buffer; replacement: Buffer; bytes: number },
): Buffer {
  const result = Buffer.allocUnsafeSlow(bytes);
  let from = 0;
  let filled = 0;
  findText(data, wanted, { overlapping: false }, (offset) => {
    filled = copy(data, from, offset, { into: result, at: filled });
    filled = copy(replacement, 0, replacement.length, { into: result, at: filled });
    from = offset + wanted.length;
    return true;
  });
  copy(data, from, data.length, { into: result, at: filled });
  return result;
}

/** A call of `Buffer.copy` takes as long as about 30 bytes in a loop; ten million calls took 2 s. */
function copy(source: Buffer, from: number, to: number, { into, at }: { into: Buffer; at: number }): number {
  if (to - from > 32) source.copy(into, at, from, to);
  else for (let index = from; index < to; index++) into[at + index - from] = source[index] ?? 0;
  return at + to - from;
}

const newlineByte = 0x0a;

export interface EditInput {
  data: Buffer;
  /** Each edit finds its text in the result of the edits before it. */
  edits: readonly Replacement[];
  /** The file name in the diff. */
  path: string;
  /** The most UTF-8 bytes of the diff. */
  diffBytes: number;
}

type Replaced = Extract<ReplaceResult, { status: 'replaced' }>;

/** `failed`: the first edit that cannot be made, counted from 0. No edit is made then. `lines`: of the last edit. */
export type EditedText =
  | (Replaced & { diff: string; diff_truncated: boolean })
  | (Exclude<ReplaceResult, Replaced> & { failed: number });

/** The content of a file after all edits, with a diff. */
export function editText({ data: before, path, diffBytes, edits }: EditInput): EditedText {
  let data = before;
  let count = 0;
  let lines: number[] = [];
  for (const [failed, edit] of edits.entries()) {
    const result = replaceText(data, edit);
    if (result.status !== 'replaced') return { ...result, failed };
    count += result.count;
    ({ data, lines } = result);
  }
  return { status: 'replaced', data, count, lines, ...diffData({ path, before, after: data, diffBytes }) };
}

/** The diff of a new content. The diff includes a byte order mark dropped by the new content. */
export function diffWritten({ path, before, after, diffBytes }: WrittenInput): {
  diff: string;
  diff_truncated: boolean;
} {
  const current = before === null ? null : decodeText(before);
  const old = current === null ? null : `${current.bom ? '\uFEFF' : ''}${current.text}`;
  return cutDiff(unifiedDiff({ path, before: old, after, most: diffBytes }), diffBytes);
}

export interface WrittenInput {
  path: string;
  /** null for a new file */
  before: Buffer | null;
  after: string | null;
  diffBytes: number;
}

function diffData({
  path,
  before,
  after,
  diffBytes,
}: Omit<WrittenInput, 'before' | 'after'> & { before: Buffer; after: Buffer }) {
  const change = { path, before: decodeText(before).text, after: decodeText(after).text, most: diffBytes };
  return cutDiff(unifiedDiff(change), diffBytes);
}
