export interface CutBody {
  body: string;
  /** The note about the text left out; empty for a whole body. */
  left: string;
}

/**
 * Shortens the content of a result to about `most` bytes of a request. Both ends keep whole lines. The note names the line of the cut, so no
 * line of the content can imitate a cut. Pure, so each process cuts the same.
 */
export function cutBody(text: string, most: number): CutBody {
  // A UTF-16 unit has at most six bytes in JSON.
  if (text.length <= most / 6) return { body: text, left: '' };
  const head = unitsOf(text, most / 2, 1);
  if (head >= text.length) return { body: text, left: '' };
  const tail = unitsOf(text, most / 2, -1);
  if (head + tail >= text.length) return { body: text, left: '' };
  const first = firstLines(text.slice(0, head));
  const last = lastLines(text.slice(text.length - tail));
  const bytes = Buffer.byteLength(text.slice(first.length, text.length - last.length));
  const line = countLines(first);
  return {
    body: `${first}\n[…]\n${last}`,
    left: leftOutNote(`${bytes} bytes of this result, after the first ${line === 1 ? 'line' : `${line} lines`}`),
  };
}

export const leftOutNote = (what: string): string =>
  `[Holdpoint left out ${what}, so that the conversation does not become too long. Where you need more of it: read a file in parts, search in it, or make the call again with less output.]`;

/** Ends with a whole line, unless that line is more than half of the text. */
function firstLines(text: string): string {
  const end = text.lastIndexOf('\n');
  return end > text.length / 2 ? text.slice(0, end) : text.replace(/[\ud800-\udbff]$/, '');
}

function lastLines(text: string): string {
  const start = text.indexOf('\n') + 1;
  return start > 0 && start < text.length / 2 ? text.slice(start) : text.replace(/^[\udc00-\udfff]/, '');
}

const countLines = (text: string): number => text.split('\n').length;

/** How many units from this end take at most `most` bytes of a request. */
function unitsOf(text: string, most: number, step: 1 | -1): number {
  let bytes = 0;
  for (let count = 0; count < text.length; count++) {
    bytes += bytesInJson(text.charCodeAt(step === 1 ? count : text.length - 1 - count));
    if (bytes > most) return count;
  }
  return text.length;
}

/** Bytes of a UTF-16 unit of a text in JSON. */
function bytesInJson(unit: number): number {
  if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x0d || unit === 0x09) return 2;
  if (unit < 0x20) return 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) return 2;
  return 3;
}
