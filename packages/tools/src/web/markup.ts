export type Mark = 'bold' | 'italic' | 'struck' | 'sup' | 'sub';
type Around = readonly [before: string, after: string];

/** The written form of a page's parts. Newlines in the returned text separate lines. */
export interface Markup {
  text(text: string): string;
  /** Lines of text at the beginning of a block. */
  lines(text: string): string;
  marks: Record<Mark, Around>;
  link(href: string): Around;
  image(alt: string, src: string): string;
  code(text: string): string;
  block(code: string, language: string): Around;
  lineBreak: string;
  cellBreak: string;
  heading(level: number): string;
  quote: string;
  item(number: number | undefined): string;
  /** Whether the lines of an item stand below its first character. */
  indents: boolean;
  checkbox(checked: boolean): string;
  rule: string;
  row(cells: readonly string[]): string;
  /**
   * The separator between the head of a table and its rows; `empty`: with a head of empty cells, as Markdown has no table without a head.
   */
  tableHead(columns: number, empty: boolean): string;
}

export const markdown: Markup = {
  text: (text) => text.replaceAll(special, '\\$&'),
  lines: (text) => text.replaceAll(/^(?:[->]|\+ |=+|#{1,6} |~~~)/gm, '\\$&').replaceAll(/^(\d+)\. /gm, '$1\\. '),
  marks: {
    bold: ['**', '**'],
    italic: ['*', '*'],
    struck: ['~~', '~~'],
    sup: ['<sup>', '</sup>'],
    sub: ['<sub>', '</sub>'],
  },
  link: (href) => ['[', `](${destination(href)})`],
  image: (alt, src) => `![${markdown.text(alt)}](${destination(src)})`,
  code(text) {
    const runs = new Set(text.match(/`+/g)?.map(({ length }) => length));
    let length = 1;
    while (runs.has(length)) length += 1;
    const fence = '`'.repeat(length);
    const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
    return `${fence}${pad}${text}${pad}${fence}`;
  },
  block(code, language) {
    let length = 3;
    for (const [run] of code.matchAll(/^`{3,}/gm)) length = Math.max(length, run.length + 1);
    const fence = '`'.repeat(length);
    return [`${fence}${language}`, fence];
  },
  lineBreak: '  \n',
  cellBreak: '<br>',
  heading: (level) => `${'#'.repeat(level)} `,
  quote: '> ',
  item: (number) => (number === undefined ? '-   ' : `${number}.  `),
  indents: true,
  checkbox: (checked) => (checked ? '[x]' : '[ ]'),
  rule: '---',
  row: (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  tableHead(columns, empty) {
    const line = (cell: string) => `|${cell.repeat(columns)}`;
    return empty ? `${line('     |')}\n${line(' --- |')}` : line(' --- |');
  },
};

/** `_` within a word marks nothing, and the reader copies names from the text. */
const special = /[\\*`[\]]|(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_\\*`[\]])/gu;

function destination(url: string): string {
  return url.replaceAll(/[<>()]/g, '\\$&').replaceAll(' ', '%20');
}

export const plainText: Markup = {
  text: (text) => text,
  lines: (text) => text,
  marks: { bold: ['', ''], italic: ['', ''], struck: ['', ''], sup: ['^', ''], sub: ['_', ''] },
  link: () => ['', ''],
  image: (alt) => alt,
  code: (text) => text,
  block: () => ['', ''],
  lineBreak: '\n',
  cellBreak: ' ',
  heading: () => '',
  quote: '',
  item: (number) => (number === undefined ? '- ' : `${number}. `),
  indents: false,
  checkbox: (checked) => markdown.checkbox(checked),
  rule: '',
  row: (cells) => cells.join('\t'),
  tableHead: () => '',
};
