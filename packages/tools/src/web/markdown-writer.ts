import { escapeLineStart, escapeText } from './markdown-escape.ts';

/** What a page is written as. */
export type TextFormat = 'markdown' | 'text';

/** A pair of marks around inline text. Where a block ends they are closed, and opened again in the next. */
export interface Mark {
  open: string;
  close: string;
}

/** Writes blocks and inline text. Nothing is written twice, so that the time is that of the output, and the output is bounded. */
export interface MarkdownWriter {
  format: TextFormat;
  /** Inline text of the document: white space collapses, and what Markdown would take for a mark is escaped. */
  text(text: string): void;
  /** Inline Markdown, as it is. */
  inline(markdown: string): void;
  lineBreak(): void;
  /** Writes what `body` writes between marks; nothing at all when that is nothing. */
  marked(mark: Mark, body: () => void): void;
  /** Ends the block. @param gap line breaks before the next, at least: 2 is a blank line */
  endBlock(gap: 1 | 2): void;
  /** Ends the block, and lets the next follow without a blank line. */
  tighten(): void;
  /** Puts `first` before the first line that `body` writes and `rest` before the others. */
  indented(first: string, rest: string, body: () => void): void;
  /** Makes one line of what `body` writes, whatever its blocks. */
  oneLine(body: () => void): void;
  /** A block of lines as they are. */
  lines(lines: readonly string[]): void;
  /** What was written, and whether all of it. */
  end(): { text: string; complete: boolean };
  /** Whether nothing more is taken. */
  full(): boolean;
}

/** Nested further, quotations and lists are written without marks, or the marks would outweigh the text. */
const MAX_INDENTS = 16;

/** @param limit characters after which nothing more is written */
export function createMarkdownWriter(format: TextFormat, limit: number): MarkdownWriter {
  const out: string[] = [];
  const indents: { first: string | undefined; rest: string }[] = [];
  const marks: Mark[] = [];
  let length = 0;
  let written = 0;
  let gap = 0;
  let line: string[] = [];
  let opened = 0;
  let blank = false;
  let flat = 0;
  let heading = false;
  let complete = true;

  const push = (piece: string) => {
    if (length + piece.length > limit) complete = false;
    const fitting = piece.slice(0, Math.max(limit - length, 0));
    length += fitting.length;
    line.push(fitting);
  };

  const put = (piece: string) => {
    if (!complete) return;
    if (blank && line.length > 0 && line.at(-1) !== LINE_BREAK) push(' ');
    blank = false;
    for (; opened < marks.length; opened += 1) push(marks[opened]?.open ?? '');
    push(piece);
  };

  const margin = (next: boolean) => {
    const parts = indents.map((indent) => {
      if (indent.first === undefined) return indent.rest;
      const { first } = indent;
      if (!next) return '';
      indent.first = undefined;
      return first;
    });
    const whole = parts.join('');
    length += whole.length;
    written += whole.length;
    return whole;
  };

  const write = (text: string) => {
    // Margins count as well: of short lines in a deep list they are the most.
    if (written > limit) complete = false;
    if (written > limit) return;
    written += text.length;
    if (out.length > 0) out.push('\n', gap > 1 ? `${margin(false).trimEnd()}\n` : '');
    gap = 0;
    out.push(margin(true), text);
  };

  const flush = () => {
    blank = false;
    while (line.at(-1) === LINE_BREAK) line.pop();
    for (; opened > 0; opened -= 1) line.push(marks[opened - 1]?.close ?? '');
    if (line.length === 0) return;
    const rows = line.join('').split(LINE_BREAK);
    line = [];
    for (const [index, row] of rows.entries()) {
      const ending = format === 'markdown' && index < rows.length - 1 ? '  ' : '';
      if (index > 0) gap = 1;
      write(`${format === 'markdown' && !heading ? escapeLineStart(row) : row}${ending}`);
    }
    heading = false;
  };

  const writer: MarkdownWriter = {
    format,
    text(text) {
      const collapsed = text.replaceAll(INVISIBLE, '').replaceAll(SPACE, ' ');
      if (collapsed.startsWith(' ')) blank = true;
      const body = collapsed.trim();
      if (body === '') return;
      put(format === 'markdown' ? escapeText(body) : body);
      if (collapsed.endsWith(' ')) blank = true;
    },
    inline: put,
    lineBreak() {
      if (flat > 0) {
        blank = true;
      } else if (line.at(-1) === LINE_BREAK) {
        // Two in a row are how old pages write paragraphs.
        writer.endBlock(2);
      } else if (line.length > 0) {
        push(LINE_BREAK);
        blank = false;
      }
    },
    marked(mark, body) {
      if (marks.includes(mark)) return body();
      marks.push(mark);
      body();
      if (opened === marks.length) {
        // Closed even when full: half a link would swallow what is said after it.
        line.push(mark.close);
        length += mark.close.length;
        opened -= 1;
      }
      marks.pop();
    },
    endBlock(next) {
      if (flat > 0) {
        blank = true;
        return;
      }
      flush();
      // The first block of a list item stands beside its mark.
      if (indents.at(-1)?.first === undefined) gap = Math.max(gap, next);
    },
    tighten() {
      if (flat > 0) return;
      flush();
      gap = 1;
    },
    indented(first, rest, body) {
      if (flat > 0 || indents.length >= MAX_INDENTS) return body();
      flush();
      indents.push({ first, rest });
      body();
      flush();
      indents.pop();
    },
    oneLine(body) {
      flat += 1;
      body();
      flat -= 1;
      heading = flat === 0;
    },
    lines(lines) {
      if (flat > 0) {
        writer.text(' ');
        put(lines.join(' '));
        writer.text(' ');
        return;
      }
      flush();
      for (const [index, text] of lines.entries()) {
        if (length + text.length > limit) complete = false;
        if (!complete) return;
        length += text.length;
        if (index > 0) gap = 1;
        write(text);
      }
    },
    full: () => !complete,
    end() {
      flush();
      return { text: out.join('').slice(0, limit), complete };
    },
  };
  return writer;
}

/** Stands in the line for `br`; no text has it, since there white space is collapsed. */
const LINE_BREAK = '\n';

const SPACE = /[\s\u00a0]+/g;
/** Soft hyphens and marks of no width break words that a reader would search for; NUL is no text at all. */
const INVISIBLE = /\0|\u00ad|\u200b|\ufeff/g;
