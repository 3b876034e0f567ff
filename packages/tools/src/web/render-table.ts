import { attribute, type HtmlElement, isElement, isHidden, type RenderContext } from './html-tree.ts';

/**
 * A table of data gets a single head row, and an empty cell for every further column or row of a spanning cell. The cells of a layout
 * table, or of a table too wide for a reader, are written in sequence.
 */
export function renderTable({ writer, element: table, scope, children, render }: RenderContext): void {
  const rows = tableRows(table);
  const columns = Math.max(0, ...rows.slice(0, maxRows).map(width));
  const isData = columns > 1 && columns <= maxColumns && rows.length <= maxRows && columns * rows.length <= maxCells;
  if (!isData || attribute(table, 'role') === 'presentation' || isLayout(table)) {
    writer.paragraph(() => children(scope));
    return;
  }
  for (const child of table.children) {
    if (isElement(child) && child.name === 'caption') render(child, scope);
  }
  const place = placeCells(columns);
  const [first] = rows;
  const hasHead = first !== undefined && isHeader(first);
  writer.table({ columns, rows: rows.length, hasHead }, (index) =>
    place(tableCells(rows[index])).map((cell) => () => {
      for (const child of cell?.children ?? []) render(child, scope);
    }),
  );
}

const maxColumns = 100;
const maxRows = 10_000;
const maxCells = 50_000;

function tableRows(table: HtmlElement): HtmlElement[] {
  const rows: HtmlElement[] = [];
  for (const child of table.children) {
    if (!isElement(child) || isHidden(child)) continue;
    const within = sections.has(child.name) ? child.children : [child];
    for (const row of within) {
      if (isElement(row) && row.name === 'tr' && !isHidden(row) && tableCells(row).length > 0) rows.push(row);
    }
  }
  return rows;
}

const sections = new Set(['thead', 'tbody', 'tfoot']);

function tableCells(row: HtmlElement | undefined): HtmlElement[] {
  return (row?.children ?? [])
    .filter(isElement)
    .filter((cell) => (cell.name === 'td' || cell.name === 'th') && !isHidden(cell));
}

function width(row: HtmlElement): number {
  return tableCells(row).reduce((sum, cell) => sum + span(cell, 'colspan'), 0);
}

/** The text of a cell over several rows or columns stands in the first cell. The others stay empty, so each text is below its heading. */
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
  return value > 1 ? Math.min(value, maxSpan[name]) : 1;
}

/** Pages write 1000 when they mean all. */
const maxSpan = { colspan: 30, rowspan: 1000 };

function isHeader(row: HtmlElement): boolean {
  const { parent } = row;
  if (parent?.type === 'tag' && parent.name === 'thead') return true;
  return tableCells(row).every(({ name }) => name === 'th');
}

/** Blocks too large for a cell of a Markdown table. */
const unfit = new Set(['table', 'pre', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

function isLayout(element: HtmlElement): boolean {
  return element.children.some((child) => isElement(child) && (unfit.has(child.name) || isLayout(child)));
}
