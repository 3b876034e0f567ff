/**
 * The construct behind a `<`. `skip`: a comment, a declaration or an unusable tag. `text`: only the character. `end`: where reading
 * continues.
 */
export type Tag =
  | { kind: 'open'; name: string; attributes: readonly (readonly [string, string])[]; closed: boolean; end: number }
  | { kind: 'close'; name: string; end: number }
  | { kind: 'skip' | 'text'; end: number };

/** Characters. Longer values are dropped: embedded pictures have millions. */
const maxValue = 4096;
const maxAttributes = 64;
const namePattern = /^[a-z][a-z0-9-]{0,40}$/;
const attributeName = /^[a-z_][a-z0-9_:.-]{0,60}$/;

/**
 * Reads the tag at a `<`. Values stay as written, entities included.
 * Uses plain loops and indexOf: a regular expression over a value of a megabyte may exhaust its stack.
 */
export function readTag(source: string, at: number): Tag {
  if (source.startsWith('<!--', at)) return { kind: 'skip', end: commentEnd(source, at + 4) };
  const next = source[at + 1] ?? '';
  if (next === '!' || next === '?') return { kind: 'skip', end: after(source, '>', at) };
  const closing = next === '/';
  const start = at + (closing ? 2 : 1);
  if (!isLetter(source.charCodeAt(start))) {
    return closing ? { kind: 'skip', end: after(source, '>', at) } : { kind: 'text', end: at + 1 };
  }
  const nameEnd = skipWhile(source, start, isNameCharacter);
  const name = source.slice(start, Math.min(nameEnd, start + 64)).toLowerCase();
  const read = readAttributes(source, nameEnd);
  // An unclosed tag is no tag and takes the rest of the page along.
  if (!read) return { kind: 'skip', end: source.length };
  const { attributes, closed, end } = read;
  if (!namePattern.test(name) || nameEnd - start > 64) return { kind: 'skip', end };
  return closing ? { kind: 'close', name, end } : { kind: 'open', name, attributes, closed, end };
}

function readAttributes(source: string, from: number) {
  const attributes: [string, string][] = [];
  let at = from;
  for (;;) {
    at = skipWhile(source, at, isSpaceOrSlash);
    if (at >= source.length) return undefined;
    if (source[at] === '>') return { attributes, closed: source[at - 1] === '/', end: at + 1 };
    const nameStart = at;
    at = skipWhile(source, at + 1, isAttributeNameCharacter);
    const name = source.slice(nameStart, Math.min(at, nameStart + 64)).toLowerCase();
    const { value, end } = readValue(source, at);
    at = end;
    if (attributes.length < maxAttributes && value.length <= maxValue && attributeName.test(name)) {
      attributes.push([name, value]);
    }
  }
}

function readValue(source: string, nameEnd: number): { value: string; end: number } {
  const equals = skipWhile(source, nameEnd, isSpace);
  if (source[equals] !== '=') return { value: '', end: nameEnd };
  const start = skipWhile(source, equals + 1, isSpace);
  const quote = source[start];
  if (quote === '"' || quote === "'") {
    const close = source.indexOf(quote, start + 1);
    const valueEnd = close === -1 ? source.length : close;
    return { value: source.slice(start + 1, valueEnd), end: valueEnd + 1 };
  }
  const end = skipWhile(source, start, isUnquotedCharacter);
  return { value: source.slice(start, end), end };
}

function commentEnd(source: string, from: number): number {
  // `<!-->` and `<!--->` are comments too.
  if (source[from] === '>') return from + 1;
  if (source.startsWith('->', from)) return from + 2;
  return after(source, '-->', from);
}

/** The position after the next `mark`, or the end of the source: an unclosed construct takes the rest along, as in browsers. */
function after(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}

function skipWhile(source: string, from: number, holds: (code: number) => boolean): number {
  let at = from;
  while (at < source.length && holds(source.charCodeAt(at))) at += 1;
  return at;
}

const greater = 0x3e;
const slash = 0x2f;
const equalsSign = 0x3d;

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isSpaceOrSlash(code: number): boolean {
  return isSpace(code) || code === slash;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
}

function isNameCharacter(code: number): boolean {
  return !isSpaceOrSlash(code) && code !== greater;
}

function isAttributeNameCharacter(code: number): boolean {
  return isNameCharacter(code) && code !== equalsSign;
}

function isUnquotedCharacter(code: number): boolean {
  return !isSpace(code) && code !== greater;
}
