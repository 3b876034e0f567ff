import type { HereDoc } from 'unbash';

/** How the shell reads the letters of a literal text. */
export type Quoting =
  /** A word of a command. */
  | 'word'
  /** The right side of `=~`, where parentheses and bars are letters. */
  | 'regex'
  /** After the operator of `${x-…}` outside of quotes. */
  | 'operand'
  /** The same inside of double quotes or of a here-document. */
  | 'quotedOperand'
  | 'doubleQuotes'
  | 'hereDocument';

/** A text with the offsets of its nodes: the line, the script of an escaped backtick, or the body of a here-document. */
export interface Region {
  source: string;
  /** The source with spaces in the place of the here-documents inside: their lines lie between foreign nodes. */
  blanked: string;
  /** All here-documents of the source. */
  hereDocs: readonly HereDoc[];
}

export function makeRegion(
  source: string,
  hereDocs: readonly HereDoc[],
  { pos = 0, end = source.length } = {},
): Region {
  let blanked = source;
  for (const { body, closing } of hereDocs) {
    const stop = closing?.end ?? body.end;
    const isInside = body.pos >= pos && stop <= end && !(body.pos === pos && body.end === end);
    if (isInside) blanked = blanked.slice(0, body.pos) + ' '.repeat(stop - body.pos) + blanked.slice(stop);
  }
  return { source, blanked, hereDocs };
}

/** The text of a leaf. A leaf over a here-document would be read in two ways. */
export function leafText({ source, blanked }: Region, pos: number, end: number): string | undefined {
  const text = source.slice(pos, end);
  return text === blanked.slice(pos, end) ? text : undefined;
}

export const isQuoted = (quoting: Quoting): boolean =>
  quoting === 'doubleQuotes' || quoting === 'hereDocument' || quoting === 'quotedOperand';

/** The quoting of an expansion's operand inside such a text. */
export const operandOf = (quoting: Quoting): Quoting => (isQuoted(quoting) ? 'quotedOperand' : 'operand');
