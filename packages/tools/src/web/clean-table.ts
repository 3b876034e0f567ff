import { attribute, type HtmlElement, isElement } from './html-tree.ts';
import { isHidden } from './noise.ts';
import type { Place } from './place.ts';

/**
 * A table of data becomes a head of one row and a body, with a cell for every column that is spanned; one that only arranges the page, or
 * is wider than any table that people read, becomes its cells, one after the other.
 */
export function cleanTable({ writer, element: table, within, children, write }: Place): void {
  const rows = tableRows(table);
  const columns = Math.max(0, ...rows.slice(0, MAX_ROWS).map(width));
  const data = columns > 1 && columns <= MAX_COLUMNS && rows.length <= MAX_ROWS && columns * rows.length <= MAX_CELLS;
  if (!data || within.line || within.cell || attribute(table, 'role') === 'presentation' || arranges(table)) {
    writer.element('div', {}, () => children(within));
    return;
  }
  for (const child of table.children) {
    if (isElement(child) && child.name === 'caption') write(child, within);
  }
  const place = placeCells(columns);
  const row = (cells: readonly (HtmlElement | undefined)[], name: string) =>
    writer.element('tr', {}, () => {
      for (const cell of cells) {
        writer.element(name, {}, () => {
          for (const child of cell?.children ?? []) write(child, { ...within, cell: true });
        });
      }
    });
  const [first] = rows;
  const headed = first !== undefined && isHeader(first);
  writer.element('table', {}, () => {
    if (headed) writer.element('thead', {}, () => row(place(tableCells(first)), 'th'));
    writer.element('tbody', {}, () => {
      for (const each of headed ? rows.slice(1) : rows) row(place(tableCells(each)), 'td');
    });
  });
}

const MAX_COLUMNS = 100;
const MAX_ROWS = 10_000;
const MAX_CELLS = 50_000;

function tableRows(table: HtmlElement): HtmlElement[] {
  const rows: HtmlElement[] = [];
  for (const child of table.children) {
    if (!isElement(child) || isHidden(child)) continue;
    const within = SECTIONS.has(child.name) ? child.children : [child];
    for (const row of within) {
      if (isElement(row) && row.name === 'tr' && !isHidden(row) && tableCells(row).length > 0) rows.push(row);
    }
  }
  return rows;
}

const SECTIONS = new Set(['thead', 'tbody', 'tfoot']);

function tableCells(row: HtmlElement): HtmlElement[] {
  return row.children.filter(isElement).filter((cell) => (cell.name === 'td' || cell.name === 'th') && !isHidden(cell));
}

function width(row: HtmlElement): number {
  return tableCells(row).reduce((sum, cell) => sum + span(cell, 'colspan'), 0);
}

/** Cells that span rows or columns stand in the first place; the others stay empty, so that each text is below its heading. */
function placeCells(columns: number) {
  const below: number[] = [];
  return (row: readonly HtmlElement[]): (HtmlElement | undefined)[] => {
    const placed: (HtmlElement | undefined)[] = [];
    const skip = () => {
      while ((below[placed.length] ?? 0) > 0) {
        below[placed.length] = (below[placed.length] ?? 0) - 1;
        placed.push(undefined);
      }
    };
    for (const cell of row) {
      skip();
      const start = placed.length;
      placed.push(cell, ...Array<undefined>(span(cell, 'colspan') - 1).fill(undefined));
      const rows = span(cell, 'rowspan') - 1;
      for (let column = start; column < placed.length; column += 1) below[column] = rows;
    }
    skip();
    while (placed.length < columns) placed.push(undefined);
    return placed;
  };
}

function span(cell: HtmlElement, name: 'colspan' | 'rowspan'): number {
  const value = Number.parseInt(attribute(cell, name) ?? '1', 10);
  return value > 1 ? Math.min(value, MAX_SPAN[name]) : 1;
}

/** Pages claim a thousand to say "all". */
const MAX_SPAN = { colspan: 30, rowspan: 1000 };

function isHeader(row: HtmlElement): boolean {
  const { parent } = row;
  if (parent?.type === 'tag' && parent.name === 'thead') return true;
  return tableCells(row).every(({ name }) => name === 'th');
}

/** Blocks that no cell of a Markdown table can hold. */
const UNFIT = new Set(['table', 'pre', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

function arranges(element: HtmlElement): boolean {
  return element.children.some((child) => isElement(child) && (UNFIT.has(child.name) || arranges(child)));
}
