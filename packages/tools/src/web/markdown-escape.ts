/** Text that Markdown shows as it is. Only what would be taken for a mark is escaped: names_like_this stay as they are. */
export function escapeText(text: string): string {
  return text.replaceAll(SPECIAL, (mark, index: number) => {
    if (mark === '_') return isWord(text[index - 1]) && isWord(text[index + 1]) ? mark : '\\_';
    if (mark === '<') return /[a-z/!?]/i.test(text[index + 1] ?? '') ? '\\<' : mark;
    if (mark === '&') return ENTITY.test(text.slice(index, index + MAX_ENTITY)) ? '\\&' : mark;
    if (mark === '~') return text[index + 1] === '~' ? '\\~' : mark;
    return `\\${mark}`;
  });
}

const SPECIAL = /[\\`*_[\]<&~]/g;
const MAX_ENTITY = 40;
const ENTITY = /^&(?:#\d+|#x[\da-f]+|[a-z][\da-z]*);/i;

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

/** A line that begins with text, where its beginning would be taken for a heading, a list item, a quotation or a rule. */
export function escapeLineStart(line: string): string {
  if (/^(?:#{1,6}|[-+])(?:\s|$)|^>|^(?:=+|-+)$|^-{3,}/.test(line)) return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** An inline code span around text with backticks of its own. */
export function codeSpan(text: string): string {
  const fence = '`'.repeat(longestRun(text, 1));
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** A fence longer than any run of backticks within. */
export function codeFence(text: string): string {
  return '`'.repeat(longestRun(text, 3));
}

function longestRun(text: string, least: number): number {
  let longest = least - 1;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest + 1;
}

/** An address within `(…)`. */
export function linkTarget(href: string): string {
  return href.replaceAll('(', '%28').replaceAll(')', '%29');
}
