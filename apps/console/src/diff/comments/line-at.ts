import type { DiffLine, DiffRow } from '../diff-lines.ts';

/** The line of a row on one side, as its number there is shown. */
export function lineAt(row: DiffRow, side: 'old' | 'new'): DiffLine | undefined {
  if (row.kind === 'hunk') return undefined;
  return row.kind === 'line' ? row.line : side === 'old' ? row.left : row.right;
}
