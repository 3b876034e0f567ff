import { attribute, type HtmlElement, type HtmlNode, isElement } from './html-tree.ts';
import { createMarkdownWriter, type MarkdownWriter, type TextFormat } from './markdown-writer.ts';
import { isHidden } from './noise.ts';

/** Writes a node to a writer, its own or that of a cell. */
type RenderNode = (writer: MarkdownWriter, node: HtmlNode) => void;

/** A table of data becomes a table; one that only arranges the page becomes its cells, one after the other. */
export function renderTable(writer: MarkdownWriter, table: HtmlElement, render: RenderNode): void {
  const rows = tableRows(table);
  const columns = Math.min(Math.max(0, ...rows.slice(0, MAX_MEASURED).map(width)), MAX_COLUMNS);
  if (columns < 2 || attribute(table, 'role') === 'presentation' || arranges(table)) {
    for (const child of table.children) render(writer, child);
    return;
  }
  for (const child of table.children) {
    if (!isElement(child) || child.name !== 'caption') continue;
    render(writer, child);
  }
  const place = placeCells();
  const texts = (row: HtmlElement) => place(cells(row), (cell) => cellText(writer.format, cell, render));
  const [first] = rows;
  const headed = first !== undefined && isHeader(first);
  const lines = tableLines(writer.format, columns);
  if (headed) writer.lines(lines.header(texts(first)));
  else if (writer.format === 'markdown') writer.lines(lines.header([]));
  for (const row of headed ? rows.slice(1) : rows) {
    if (writer.full()) return;
    writer.tighten();
    writer.lines([lines.row(texts(row))]);
  }
}

/** Of the page's tables only hostile ones are wider. */
const MAX_COLUMNS = 200;
/** Rows that are looked at for the width. */
const MAX_MEASURED = 1000;
const MAX_CELL = 100_000;

function tableLines(format: TextFormat, columns: number) {
  if (format === 'text') {
    const row = (texts: readonly string[]) => texts.join('\t');
    return { row, header: (texts: readonly string[]) => [row(texts)] };
  }
  const row = (texts: readonly string[]) => `|${texts.map((text) => ` ${text} |`).join('')}`;
  return {
    row,
    header(texts: readonly string[]) {
      const count = Math.max(columns, texts.length);
      return [row([...texts, ...Array<string>(count - texts.length).fill('')]), row(Array<string>(count).fill('---'))];
    },
  };
}

function tableRows(table: HtmlElement): HtmlElement[] {
  const rows: HtmlElement[] = [];
  for (const child of table.children) {
    if (!isElement(child) || isHidden(child)) continue;
    if (child.name === 'tr') rows.push(child);
    if (SECTIONS.has(child.name)) rows.push(...tableRowsOf(child));
  }
  return rows;
}

const SECTIONS = new Set(['thead', 'tbody', 'tfoot']);

function tableRowsOf(section: HtmlElement): HtmlElement[] {
  return section.children.filter(isElement).filter((child) => child.name === 'tr' && !isHidden(child));
}

function cells(row: HtmlElement): HtmlElement[] {
  return row.children.filter(isElement).filter(({ name }) => name === 'td' || name === 'th');
}

function width(row: HtmlElement): number {
  return cells(row).reduce((sum, cell) => sum + span(cell, 'colspan'), 0);
}

/** Cells that span rows or columns stand in the first place; the others stay empty, so that each text is below its heading. */
function placeCells() {
  const below: number[] = [];
  return (row: readonly HtmlElement[], text: (cell: HtmlElement) => string): string[] => {
    const texts: string[] = [];
    const skip = () => {
      while ((below[texts.length] ?? 0) > 0) {
        below[texts.length] = (below[texts.length] ?? 0) - 1;
        texts.push('');
      }
    };
    for (const cell of row) {
      skip();
      const start = texts.length;
      texts.push(text(cell), ...Array<string>(span(cell, 'colspan') - 1).fill(''));
      const rows = span(cell, 'rowspan') - 1;
      for (let column = start; column < texts.length && column < MAX_COLUMNS; column += 1) below[column] = rows;
    }
    skip();
    return texts;
  };
}

function span(cell: HtmlElement, name: 'colspan' | 'rowspan'): number {
  const value = Number.parseInt(attribute(cell, name) ?? '1', 10);
  return value > 1 ? Math.min(value, name === 'colspan' ? MAX_COLSPAN : MAX_ROWSPAN) : 1;
}

const MAX_COLSPAN = 50;
const MAX_ROWSPAN = 1000;

function isHeader(row: HtmlElement): boolean {
  const { parent } = row;
  if (parent?.type === 'tag' && parent.name === 'thead') return true;
  const all = cells(row);
  return all.length > 0 && all.every(({ name }) => name === 'th');
}

function cellText(format: TextFormat, cell: HtmlElement, render: RenderNode): string {
  const inner = createMarkdownWriter(format, MAX_CELL);
  for (const child of cell.children) render(inner, child);
  const lines = inner
    .end()
    .text.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return format === 'text' ? lines.join(' ') : lines.join('<br>').replaceAll('|', '\\|');
}

/** Blocks that no cell of a Markdown table can hold. */
const UNFIT = new Set(['table', 'pre', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

function arranges(element: HtmlElement): boolean {
  return element.children.some((child) => isElement(child) && (UNFIT.has(child.name) || arranges(child)));
}
