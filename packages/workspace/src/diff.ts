import { parsePatch } from 'diff';
import type { Deps } from './deps.ts';
import { toText } from './files/path-name.ts';
import type { RawDiff } from './host-git/diff-tree.ts';
import { diffTree } from './host-git/diff-tree.ts';
import { reviewChanges } from './left-out/review.ts';
import type { DiffRequest, FileDiff, LeftOut } from './port.ts';

/**
 * What differs between two snapshots, for reading: text that is not UTF-8 is shown with replacement characters, and files above
 * `limits.hunkBytes` as binary. `patch` is exact.
 */
export async function diffSnapshots(
  deps: Deps,
  request: DiffRequest,
): Promise<{ files: FileDiff[]; left_out: LeftOut[] }> {
  using review = await reviewChanges(deps, request);
  const files = await diffTree(
    deps,
    { ...review, path: request.path },
    { flags: [], config: [`core.bigFileThreshold=${deps.limits.hunkBytes}`], maxBytes: deps.limits.diffBytes },
  );
  return { files: files.map(toFileDiff), left_out: review.left_out };
}

function toFileDiff(file: RawDiff): FileDiff {
  const texts = file.sections.map((section) => section.toString('utf8'));
  const hunks = texts.flatMap(hunksOf);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    path: toText(file.path),
    status: file.status,
    old_mode: file.oldMode,
    new_mode: file.newMode,
    binary: texts.some((text) => /^Binary files /m.test(headOf(text))),
    additions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
    hunks,
  };
}

/** Only the hunks are given to the parser: headers with quoted names, modes and binary notes are read elsewhere. */
function hunksOf(section: string): FileDiff['hunks'] {
  const start = section.indexOf('\n@@ ');
  if (start === -1) return [];
  const [parsed] = parsePatch(section.slice(start + 1));
  return (parsed?.hunks ?? []).map((hunk) => ({
    // The parser moves the start of an empty side by one; git's own number is kept.
    old_start: hunk.oldLines === 0 ? hunk.oldStart - 1 : hunk.oldStart,
    old_lines: hunk.oldLines,
    new_start: hunk.newLines === 0 ? hunk.newStart - 1 : hunk.newStart,
    new_lines: hunk.newLines,
    lines: hunk.lines,
  }));
}

function headOf(section: string): string {
  const start = section.indexOf('\n@@ ');
  return start === -1 ? section : section.slice(0, start);
}
