import type { HereDoc } from 'unbash';

/** The text contradicts the parser's tree. Its message says why, for a person. */
export class Disagreement extends Error {
  /** Where in the text. */
  readonly at: number;

  constructor(why: string, at: number) {
    super(why);
    this.at = at;
  }
}

export function refuse(why: string, at: number): never {
  throw new Disagreement(why, at);
}

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

const plainDelimiter = /^(?:[\w.%+@:-]+|'[\w .%+@:-]*'|"[\w .%+@:-]*"|\\[\w.%+@:-]+)$/;

/**
 * A here-document begins on the line after its operator, behind the other here-documents of the same line, and ends at the first line equal
 * to its delimiter. Bash finds another beginning where the rest of the line opens a quote or a substitution, and another end where a line
 * is continued.
 */
export function checkHereDocuments(source: string, hereDocs: readonly HereDoc[], isBacktick: boolean): void {
  const ends = new Map<number, number>();
  for (const hereDoc of hereDocs.toSorted((one, other) => one.pos - other.pos)) {
    const { pos, end, body, closing, delimiter } = hereDoc;
    if (isBacktick) refuse('a here-document is inside of a backtick', pos);
    if (!closing || !delimiter) refuse('a here-document has no end', pos);
    if (!plainDelimiter.test(delimiter.text)) refuse('a here-document has a strange delimiter', pos);
    const line = endOfLine(source, end);
    if (body.pos !== (ends.get(line) ?? line) + 1) refuse('a here-document begins elsewhere', pos);
    ends.set(line, closing.end);
    checkLines(source, hereDoc, closing);
  }
}

/** The end of the line with the operator, continuation lines included. */
function endOfLine(source: string, from: number): number {
  let at = source.indexOf('\n', from);
  while (at > 0 && isContinued(source, at)) at = source.indexOf('\n', at + 1);
  return at;
}

function isContinued(source: string, newline: number): boolean {
  let backslashes = 0;
  while (source[newline - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function checkLines(
  source: string,
  { body, delimiter, operator }: HereDoc,
  closing: { pos: number; end: number },
): void {
  const strip = (line: string) => (operator === '<<-' ? line.replace(/^\t+/, '') : line);
  const lines = source.slice(body.pos, closing.end).split('\n').map(strip);
  const isLast = closing.end === source.length || source[closing.end] === '\n';
  const first = lines.indexOf(delimiter!.value);
  if (!isLast || first !== lines.length - 1) refuse('a here-document ends elsewhere', body.pos);
  if (!delimiter!.quoted && lines.length > 1 && isContinued(`${lines.at(-2)}\n`, lines.at(-2)!.length))
    refuse('the last line of a here-document is continued', body.pos);
}

/** The text between two nodes: operators and reserved words, without blanks and comments. A newline is a token, too. */
export function readGap({ blanked }: Region, pos: number, end: number): string[] {
  const tokens: string[] = [];
  token.lastIndex = pos;
  for (let at = pos; at < end; at = token.lastIndex) {
    const found = token.exec(blanked);
    if (!found || token.lastIndex > end) refuse('a part of the text belongs to no command', at);
    const [text] = found;
    if (text.startsWith('#')) checkComment(blanked, at);
    else if (text === '\\\n') checkContinuation(blanked, at);
    else if (text !== ' ' && text !== '\t') {
      if (word.test(text)) checkDelimited(blanked, at, at + text.length);
      tokens.push(text);
    }
  }
  return tokens;
}

const token = /[ \t\n]|\\\n|#[^\n]*|;;&|;;|;&|&&|\|\||\|&|\[\[|\]\]|[;&|(){}!]|[a-z]+/y;
const word = /^(?:[a-z]+|[{}!]|\[\[|\]\])$/;

/** `#` begins a comment only where a word could begin. */
function checkComment(text: string, at: number): void {
  if (at > 0 && !' \t\n;&|('.includes(text[at - 1]!) && !(text[at - 1] === '`')) {
    refuse('a # that does not follow a blank is no comment', at);
  }
}

function checkDelimited(text: string, start: number, end: number): void {
  const isEnd = (at: number) => at < 0 || at >= text.length || ' \t\n;&|()<>`'.includes(text[at]!);
  if (!isEnd(start - 1) || !isEnd(end)) refuse('a reserved word is a part of a longer one', start);
}

/**
 * Bash joins lines before reading their content: `$\⏎(id)` is a substitution. So a line may be continued between words, or inside of a word
 * where neither side has a meaning.
 */
export function checkContinuation(text: string, at: number, isQuoted = false): void {
  const [before = ' ', after = ' '] = [text[at - 1], text[at + 2]];
  if (isQuoted ? before !== '$' : ' \t\n'.includes(before)) return;
  if (isQuoted || '$<>{}()[]\\`=#!~"\''.includes(before) || /[$<>{}()[\]\\`#&|;"'=]/.test(after))
    refuse('a line is continued inside of a sign', at);
}
