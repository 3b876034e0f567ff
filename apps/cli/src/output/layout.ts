import { stripVTControlCharacters } from 'node:util';
import type { Page } from '@holdpoint/contract/wire';
import { nameText, oneLine } from '@holdpoint/readable';
import widthOf from 'fast-string-truncated-width';
import { shortId } from '../naming/ids.ts';
import type { Shell } from '../shell/index.ts';

/** A head, or the head of a column of ids (never cut) or of texts (cut before all others). */
export type Column = string | { id: string } | { text: string };

/**
 * Aligns columns, two spaces apart. The last column is not padded.
 *
 * @param width columns of a terminal: ids are short and texts cut, to fit the lines. Undefined: everything is whole
 */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width?: number): string[] {
  const shown = width === undefined ? rows : rows.map((row) => row.map((cell, n) => shortCell(columns[n], cell)));
  const all = [columns.map(headOf), ...shown];
  const wanted = columns.map((_, column) => Math.max(...all.map((row) => visibleLength(row[column] ?? ''))));
  const widths = width === undefined ? wanted : fittingWidths(columns, wanted, width);
  return all.map((row) =>
    row
      .map((cell, column) => {
        const text = fitCell(cell, widths[column] ?? 0);
        return column === row.length - 1 ? text : text + ' '.repeat((widths[column] ?? 0) - visibleLength(text));
      })
      .join('  ')
      .trimEnd(),
  );
}

const headOf = (column: Column): string =>
  typeof column === 'string' ? column : 'id' in column ? column.id : column.text;

const isId = (column: Column | undefined): boolean => typeof column === 'object' && 'id' in column;
const isText = (column: Column): boolean => typeof column === 'object' && 'text' in column;
const shortCell = (column: Column | undefined, cell: string): string => (isId(column) ? shortId(cell) : cell);

/** A cut cell loses its colour: the cut would drop the reset at its end. */
const fitCell = (cell: string, room: number): string =>
  visibleLength(cell) > room ? fit(stripVTControlCharacters(cell), room) : cell;

/** A cut text keeps this many columns, and another cut cell `leastCell`. */
const leastText = 8;
const leastCell = 3;

/** Takes columns from the widest text, then from the widest cell except ids, until a line fits. */
function fittingWidths(columns: readonly Column[], wanted: readonly number[], width: number): number[] {
  const widths = wanted.map((one) => Math.min(one, width));
  const cut = (may: (column: Column) => boolean, least: number): void => {
    const used = widths.reduce((total, one) => total + one, 2 * (widths.length - 1));
    for (let left = used - width; left > 0; left--) {
      const candidates = columns.map((column, n) => (may(column) ? (widths[n] ?? 0) : 0));
      const widest = Math.max(...candidates);
      if (widest <= least) return;
      widths[candidates.indexOf(widest)] = widest - 1;
    }
  };
  cut(isText, leastText);
  cut((column) => !isId(column), leastCell);
  return widths;
}

/** Columns, without colours. */
const visibleLength = (text: string): number => widthOf(text).width;

/** Names and values, a pair per line, values aligned. Pairs without a value are left out. */
export function pairs(values: Readonly<Record<string, string | null | undefined>>): string[] {
  const given = Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] != null && entry[1] !== '',
  );
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return given.map(([name, value]) => `${name.padEnd(width)}  ${value.replaceAll('\n', `\n${indent}`)}`);
}

/** Cuts a text without colours to this many columns of a terminal. */
export function fit(text: string, columns: number): string {
  const limit = Math.max(1, columns);
  const { index, truncated } = widthOf(text, { limit, ellipsis: '…', ellipsisWidth: 1 });
  if (!truncated) return text;
  let kept = text.slice(0, index);
  // Behind a character outside of Latin the library keeps a column too many.
  while (kept !== '' && widthOf(kept).width > limit - 1) kept = kept.slice(0, kept.at(-1)?.isWellFormed() ? -1 : -2);
  return `${kept}…`;
}

/** Keeps the first and the last lines, and says how many lie between them. */
export function fold(
  lines: readonly string[],
  { head, tail, note = '' }: { head: number; tail: number; note?: string },
): string[] {
  const left = lines.length - head - tail;
  // A note in place of a single line saves nothing.
  if (left <= 1) return [...lines];
  return [...lines.slice(0, head), `… ${left} more lines${note}`, ...lines.slice(lines.length - tail)];
}

/** Reports the hidden part of a list's page: unreadable entries, and the pages behind. */
export function sayEndOfPage(shell: Pick<Shell, 'say'>, page: Pick<Page<unknown>, 'damaged' | 'next_cursor'>): void {
  sayDamaged(shell, page);
  if (page.next_cursor !== null) shell.say(`There are more: --cursor ${page.next_cursor}`);
}

export function sayDamaged(shell: Pick<Shell, 'say'>, { damaged = [] }: Pick<Page<unknown>, 'damaged'>): void {
  for (const { id, code, detail, next } of damaged) {
    shell.say(`Not shown: ${nameText(id)} (${code}): ${oneLine(detail)}. ${oneLine(next)}`);
  }
}
