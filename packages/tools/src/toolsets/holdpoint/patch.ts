import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff';

/**
 * A unified diff that `git apply` accepts; the empty string when nothing differs.
 *
 * @param change.before null: the file is new
 */
export function unifiedDiff({ path, before, after }: { path: string; before: string | null; after: string }): string {
  if (before === after) return '';
  const old = before ?? '';
  const hunks = structuredPatch('', '', old, after, '', '', { context: 3, maxEditLength: MAX_EDIT_LENGTH })?.hunks;
  return formatPatch(
    {
      oldFileName: before === null ? '/dev/null' : `a/${path}`,
      newFileName: `b/${path}`,
      oldHeader: undefined,
      newHeader: undefined,
      hunks: hunks ?? [wholeChange(old, after)],
    },
    FILE_HEADERS_ONLY,
  );
}

/** The search costs the square of the changed lines: past so many, the file is shown as replaced. */
const MAX_EDIT_LENGTH = 2000;

function wholeChange(before: string, after: string): StructuredPatchHunk {
  const removed = structuredPatch('', '', before, '').hunks.flatMap(({ lines }) => lines);
  const added = structuredPatch('', '', '', after).hunks.flatMap(({ lines }) => lines);
  return {
    oldStart: 1,
    oldLines: countLines(removed),
    newStart: 1,
    newLines: countLines(added),
    lines: [...removed, ...added],
  };
}

function countLines(lines: readonly string[]): number {
  return lines.filter((line) => !line.startsWith('\\')).length;
}

/** Cuts a diff for a result. The cut is between lines. */
export function cutDiff(diff: string, bytes: number): { diff: string; diff_truncated: boolean } {
  if (Buffer.byteLength(diff) <= bytes) return { diff, diff_truncated: false };
  const kept = Buffer.from(diff).subarray(0, bytes);
  return { diff: kept.subarray(0, kept.lastIndexOf('\n') + 1).toString(), diff_truncated: true };
}
