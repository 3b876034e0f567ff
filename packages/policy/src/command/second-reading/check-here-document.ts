import type { HereDoc } from 'unbash';
import { refuse } from './disagreement.ts';

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
