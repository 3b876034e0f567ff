import type { FileDiff } from '../diff-lines.ts';

/**
 * Follows a line of the old version of a file into the new one.
 * @returns its number there; undefined: the change removed or rewrote the line
 */
export function moveLine(hunks: FileDiff['hunks'], line: number): number | undefined {
  let shift = 0;
  for (const { old_start, old_lines, new_lines, lines } of hunks) {
    // A hunk without old lines stands behind the line that it names.
    const first = old_lines === 0 ? old_start + 1 : old_start;
    if (line < first) break;
    if (line < first + old_lines) return moveWithin(lines, first, first + shift, line);
    shift += new_lines - old_lines;
  }
  return line + shift;
}

function moveWithin(lines: readonly string[], firstOld: number, firstNew: number, line: number): number | undefined {
  let [old, next] = [firstOld, firstNew];
  for (const text of lines) {
    const sign = text[0];
    if (old === line && sign === ' ') return next;
    if (old === line && sign === '-') return undefined;
    if (sign === ' ' || sign === '-') old++;
    if (sign === ' ' || sign === '+') next++;
  }
  return undefined;
}
