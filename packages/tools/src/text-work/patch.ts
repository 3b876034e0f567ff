import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff';
import { splitLines } from './text.ts';

interface Change {
  path: string;
  /** null for a new file */
  before: string | null;
  /** null for a deleted file */
  after: string | null;
  /** Characters of each side in the diff of a change too large to compare. @default all */
  most?: number;
}

/** A unified diff for `git apply`; empty when nothing differs. */
export function unifiedDiff({ path, before, after, most = Number.POSITIVE_INFINITY }: Change): string {
  if (before === after) return '';
  const hunks = compare(before ?? '', after ?? '', most);
  return formatPatch(
    {
      oldFileName: before === null ? '/dev/null' : `a/${path}`,
      newFileName: after === null ? '/dev/null' : `b/${path}`,
      oldHeader: undefined,
      newHeader: undefined,
      hunks,
    },
    FILE_HEADERS_ONLY,
  );
}

/** Compares only the part between the first and the last different line: an edit of a line costs the same in any file. */
function compare(before: string, after: string, most: number): StructuredPatchHunk[] {
  const same = sameStart(before, after);
  const [old, now] = cutSameEnd(before.slice(same.end), after.slice(same.end));
  const hunks = isComparable(old, now)
    ? structuredPatch('', '', old, now, '', '', {
        context: contextLines,
        maxEditLength: maxEdits,
        timeout: longestMs,
      })?.hunks
    : undefined;
  const found = hunks ?? [wholeChange(old, now, most)];
  return found.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + same.lines,
    newStart: hunk.newStart + same.lines,
  }));
}

const contextLines = 3;
/** The search takes quadratic time in the changed lines. A larger change is shown as a replaced file. */
const maxEdits = 2000;
const longestMs = 2000;
/** Newlines on both sides. The comparison holds each line several times. */
const maxCompared = 100_000;

function isComparable(old: string, now: string): boolean {
  return countNewlines(old) + countNewlines(now) <= maxCompared;
}

/** The end and the number of the equal first lines, without the context lines. */
function sameStart(before: string, after: string): { end: number; lines: number } {
  const most = Math.min(before.length, after.length);
  const ends = [0];
  for (let at = 0; at < most && before.charCodeAt(at) === after.charCodeAt(at); at++) {
    if (before.charCodeAt(at) === newline) ends.push(at + 1);
  }
  const lines = Math.max(ends.length - 1 - contextLines, 0);
  return { end: ends[lines] ?? 0, lines };
}

/** The texts without their equal last lines, except for the context lines. */
function cutSameEnd(before: string, after: string): [string, string] {
  const most = Math.min(before.length, after.length);
  // For each newline in the equal part: the number of characters behind.
  const rests: number[] = [];
  for (let same = 0; same < most; same++) {
    const code = before.charCodeAt(before.length - 1 - same);
    if (code !== after.charCodeAt(after.length - 1 - same)) break;
    if (code === newline) rests.push(same);
  }
  const rest = rests[rests.length - 1 - contextLines] ?? 0;
  return [before.slice(0, before.length - rest), after.slice(0, after.length - rest)];
}

const newline = 0x0a;

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function wholeChange(before: string, after: string, most: number): StructuredPatchHunk {
  return {
    oldStart: 1,
    oldLines: countLines(before),
    newStart: 1,
    newLines: countLines(after),
    lines: [...marked(before, '-', most), ...marked(after, '+', most)],
  };
}

function countLines(text: string): number {
  return countNewlines(text) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

function marked(text: string, mark: string, most: number): string[] {
  const lines = splitLines(text.slice(0, most)).map((line) => mark + line.replace(/\n$/, ''));
  return text === '' || text.endsWith('\n') ? lines : [...lines, '\\ No newline at end of file'];
}

/** Cuts a diff between two lines. */
export function cutDiff(diff: string, bytes: number): { diff: string; diff_truncated: boolean } {
  if (Buffer.byteLength(diff) <= bytes) return { diff, diff_truncated: false };
  const kept = Buffer.from(diff.slice(0, bytes)).subarray(0, bytes);
  return { diff: kept.subarray(0, kept.lastIndexOf('\n') + 1).toString(), diff_truncated: true };
}

/** UTF-8 bytes of the diff for a person's decision. */
export const maxPatch = 1024 * 1024;

/** The patch for a person; the last line reports a cut. */
export function shownPatch(
  { diff, diff_truncated }: { diff: string; diff_truncated: boolean },
  bytes = maxPatch,
): string {
  return diff_truncated ? `${diff}\\ The change is larger than ${bytes} bytes: its rest is not shown\n` : diff;
}
