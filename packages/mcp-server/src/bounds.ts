/**
 * Bytes of UTF-8 in the text of an answer. Claude Code warns at 10,000 tokens and refuses above 25,000
 * (code.claude.com/docs/en/mcp, "MCP output limits"); 32 KiB of code are some 10,000.
 */
export const mostText = 32 * 1024;

/** The beginning of a text in at most `most` bytes of UTF-8: no character is cut in two. */
export function headOf(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let end = most;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** A text, or its beginning with a note of how much is missing. @param most bytes with the note */
export function cutText(text: string, most: number, whereIsRest: string): string {
  const length = Buffer.byteLength(text);
  if (length <= most) return text;
  const note = `\n[${length} bytes in all; ${whereIsRest}]`;
  return `${headOf(text, Math.max(0, most - Buffer.byteLength(note)))}${note}`;
}

export interface LinePage {
  text: string;
  /** Number of the first line of the page, from 1. */
  from: number;
  lines: number;
  total: number;
  /** `from_line` of the next page; null on the last page. */
  next: number | null;
}

/** Whole lines from line `from` on, as many as fit; a line too long for a page alone is cut. */
export function linePage(text: string, { from, most }: { from: number; most: number }): LinePage {
  const all = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const page: string[] = [];
  let bytes = 0;
  for (const line of all.slice(from - 1)) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > most && page.length > 0) break;
    page.push(cutText(line, most, 'the line is cut'));
    if (bytes > most) break;
  }
  const next = from + page.length;
  return { text: page.join('\n'), from, lines: page.length, total: all.length, next: next <= all.length ? next : null };
}
