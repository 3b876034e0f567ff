import { type Mark, markdown, plainText } from './markup.ts';

export interface PageText {
  content: string;
  /** Characters of text, without marks and without white space around them. */
  chars: number;
  /** False when the page was too large and its rest is missing. */
  complete: boolean;
}

/** Writes Markdown or plain text of a bounded size, in a single pass. Blocks within a cell or a heading become parts of its line. */
export interface PageWriter {
  /** Text of the document: white space collapses. */
  text(text: string): void;
  code(text: string): void;
  image(alt: string, src: string): void;
  checkbox(checked: boolean): void;
  lineBreak(): void;
  /** Marks around text. Without any text in them they are left out. */
  marked(mark: Mark, body: () => void): void;
  link(href: string, body: () => void): void;
  paragraph(body: () => void): void;
  heading(level: number, body: () => void): void;
  quote(body: () => void): void;
  list(body: () => void): void;
  item(number: number | undefined, body: () => void): void;
  preformatted(text: string, language: string): void;
  rule(): void;
  /** @param row the cells of a row, as functions for writing them */
  table(size: { columns: number; rows: number; hasHead: boolean }, row: (index: number) => (() => void)[]): void;
  isFull(): boolean;
  end(): PageText;
}

/** Deeper quotations and lists are written without marks, or the marks would outweigh the text. */
const maxDepth = 16;

/** @param limit characters of the content */
export function openPageWriter(format: 'markdown' | 'text', limit: number): PageWriter {
  const markup = format === 'markdown' ? markdown : plainText;
  const out: string[] = [];
  let written = 0;
  /** Characters of lines not in `out` yet. */
  let held = 0;
  let chars = 0;
  let complete = true;
  let line = emptyLine();
  let context: 'flow' | 'heading' | 'cell' = 'flow';
  let depth = 0;
  /** Stands before each line: the marks of the quotations and lists around. */
  let prefix = '';
  /** Stands before the next line instead of `prefix`: the marker of an item. */
  let marker: string | undefined;
  /** Stands on the blank line before the next block: the marks around both blocks. */
  let blankPrefix = '';
  let blankLine = false;
  let afterNestedList = false;

  const isFull = () => {
    if (written + held >= limit) complete = false;
    return !complete;
  };
  const fitting = (text: string) => {
    const fits = text.slice(0, Math.max(limit - written - held, 0));
    if (fits.length < text.length) complete = false;
    return fits;
  };
  const putLines = (text: string) => {
    const first = marker ?? prefix;
    const lead = `${out.length === 0 ? '' : blankLine ? `\n${blankPrefix}\n` : '\n'}${first}`;
    const lines = fittingLines(text, limit - written - lead.length, prefix.length);
    if (lines.length < text.length) complete = false;
    const block = lead + (prefix === '' ? lines : lines.replaceAll('\n', `\n${prefix}`));
    out.push(block);
    written += block.length;
    marker = undefined;
    blankPrefix = prefix;
    blankLine = false;
    afterNestedList = false;
  };
  /** Takes the content of the line, and starts an empty line. */
  const takeLine = (): string => {
    const text = line.pieces.join('') + markup.text(line.words);
    line = emptyLine();
    return text;
  };
  const endLine = () => {
    const text = takeLine();
    if (text !== '') putLines(markup.lines(text));
    held = 0;
  };
  const boundary = () => {
    if (context === 'heading') line.space = true;
    else if (context === 'cell') line.breaks = Math.max(line.breaks, 1);
    else {
      endLine();
      // At the start of an item the list has decided already.
      if (marker === undefined) blankLine = true;
    }
  };
  const put = (piece: string) => {
    line.pieces.push(markup.text(line.words), piece);
    line.words = '';
    held += piece.length;
  };
  /** Writes the white space and the opening marks held until text follows. */
  const lead = () => {
    const { breaks, space, opening } = line;
    if (line.pieces.length > 0 || line.words !== '') {
      if (breaks > 0) put((context === 'cell' ? markup.cellBreak : markup.lineBreak).repeat(breaks));
      else if (space) line.words += ' ';
    }
    Object.assign(line, { breaks: 0, space: false, opening: [] });
    for (const mark of opening) put(mark);
  };
  const putPiece = (piece: string) => {
    lead();
    put(piece);
  };
  const around = ([before, after]: readonly [string, string], body: () => void) => {
    const waiting = line.opening.push(before);
    body();
    if (line.opening.length >= waiting) line.opening.length = waiting - 1;
    else put(after);
  };
  const contain = (mark: string, indent: string, body: () => void) => {
    const outer = { prefix, marker };
    marker = (marker ?? prefix) + mark;
    prefix += indent;
    depth += 1;
    body();
    endLine();
    depth -= 1;
    prefix = outer.prefix;
    if (marker !== undefined) marker = outer.marker;
    if (blankPrefix.length > prefix.length) blankPrefix = prefix;
  };
  const inLine = <Result>(kind: 'heading' | 'cell', body: () => Result): Result => {
    context = kind;
    const result = body();
    context = 'flow';
    return result;
  };
  const cellText = (cell: () => void): string => {
    inLine('cell', cell);
    return takeLine();
  };

  const writer: PageWriter = {
    text(text) {
      const clean = text.replaceAll(invisible, '').replaceAll(whiteSpace, ' ');
      const words = fitting(clean.trim());
      if (clean.startsWith(' ')) line.space = true;
      if (words === '') return;
      chars += words.length;
      lead();
      line.words += words;
      held += words.length;
      line.space = clean.endsWith(' ');
    },
    code(text) {
      const fits = fitting(text.replaceAll(invisible, ''));
      if (fits === '') return;
      chars += fits.length;
      putPiece(markup.code(fits));
    },
    image: (alt, src) => putPiece(markup.image(alt, src)),
    checkbox(checked) {
      putPiece(markup.checkbox(checked));
      line.space = true;
    },
    lineBreak() {
      if (context === 'heading') line.space = true;
      else line.breaks += 1;
    },
    marked: (mark, body) => around(markup.marks[mark], body),
    link: (href, body) => around(markup.link(href), body),
    paragraph(body) {
      boundary();
      body();
      boundary();
    },
    heading(level, body) {
      if (context !== 'flow') return writer.paragraph(body);
      boundary();
      contain(markup.heading(level), '', () => inLine('heading', body));
      blankLine = true;
    },
    quote(body) {
      boundary();
      if (context === 'flow' && depth < maxDepth) contain(markup.quote, markup.quote, body);
      else body();
      boundary();
    },
    list(body) {
      if (context !== 'flow') return writer.paragraph(body);
      endLine();
      // A list within an item follows its text without a blank line.
      const nested = depth > 0 && marker === undefined && !blankLine;
      if (!nested && marker === undefined) blankLine = true;
      body();
      boundary();
      afterNestedList = nested;
    },
    item(number, body) {
      if (context === 'flow' && depth < maxDepth) {
        endLine();
        const mark = markup.item(number);
        contain(mark, markup.indents ? ' '.repeat(mark.length) : '', body);
        if (afterNestedList) blankLine = false;
        return;
      }
      writer.paragraph(() => {
        if (context === 'cell') writer.text('• ');
        body();
      });
    },
    preformatted(text, language) {
      if (context !== 'flow') {
        line.space = true;
        writer.code(text.replaceAll(whiteSpace, ' ').trim());
        line.space = true;
        return;
      }
      boundary();
      const [before, after] = markup.block(text, language);
      chars += text.length;
      if (before === '') putLines(text);
      else {
        putLines(before);
        putLines(text);
        putLines(after);
      }
      blankLine = true;
    },
    rule() {
      boundary();
      if (context === 'flow' && markup.rule !== '') putLines(markup.rule);
      if (context === 'flow') blankLine = true;
    },
    table({ columns, rows, hasHead }, row) {
      boundary();
      const head = markup.tableHead(columns, !hasHead);
      for (let index = 0; index < rows && !isFull(); index += 1) {
        const cells = row(index);
        if (context !== 'flow') {
          for (const cell of cells) writer.paragraph(cell);
          continue;
        }
        if (index === 0 && !hasHead && head !== '') putLines(head);
        const text = markup.row(cells.map(cellText));
        held = 0;
        putLines(text);
        if (index === 0 && hasHead && head !== '') putLines(head);
      }
      boundary();
    },
    isFull,
    end() {
      endLine();
      const content = out.join('');
      return {
        content: content.slice(0, limit).trim().toWellFormed(),
        chars,
        complete: complete && content.length <= limit,
      };
    },
  };
  return writer;
}

/** A paragraph, heading or cell in progress. */
interface Line {
  pieces: string[];
  /** The text after the last piece, not escaped yet: the escape of a character depends on both neighbours. */
  words: string;
  /** `space`, `breaks` and the marks in `opening` are written when something follows. */
  space: boolean;
  breaks: number;
  opening: string[];
}

function emptyLine(): Line {
  return { pieces: [], words: '', space: false, breaks: 0, opening: [] };
}

/** The lines that fit into `chars` together with a prefix of each but the first. */
function fittingLines(text: string, chars: number, prefix: number): string {
  let prefixes = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (at + prefixes > chars) return text.slice(0, Math.max(chars - prefixes, 0));
    prefixes += prefix;
  }
  return text.slice(0, Math.max(chars - prefixes, 0));
}

const whiteSpace = /[\s\u00a0]+/g;
/** Soft hyphens and marks of no width break words for a reader's search; NUL is no text. */
const invisible = /\0|\u00ad|\u200b|\ufeff/g;
