/**
 * The line of a JSON text where the value of a pointer (RFC 6901) begins, from 1; of an absent value, the line of the nearest value around it.
 * The text is well-formed JSON.
 */
export function lineOf(text: string, pointer: string): number {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = 0;
  let best = start();
  for (const name of path) {
    const found = enter(name);
    if (found === undefined) break;
    at = found;
    best = start();
  }
  return text.slice(0, best).split('\n').length;

  function start(): number {
    at = next(/\S/g, at);
    return at;
  }
  function next(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? text.length;
  }

  /** Where the member or item `name` of the value at `at` begins. */
  function enter(name: string): number | undefined {
    const isList = text[at] === '[';
    if (!isList && text[at] !== '{') return undefined;
    let index = 0;
    let place = next(/\S/g, at + 1);
    while (place < text.length && text[place] !== ']' && text[place] !== '}') {
      if (isList) {
        if (String(index) === name) return place;
      } else {
        const end = skip(place);
        const key: unknown = JSON.parse(text.slice(place, end));
        place = next(/\S/g, next(/:/g, end) + 1);
        if (key === name) return place;
      }
      place = next(/\S/g, skip(place));
      if (text[place] === ',') place = next(/\S/g, place + 1);
      index++;
    }
    return undefined;
  }

  /** The end of the value that begins at `from`. */
  function skip(from: number): number {
    const token = /"(?:[^"\\]|\\.)*"|[[\]{}]|[^\s,:[\]{}"]+/gs;
    token.lastIndex = from;
    let depth = 0;
    for (let found = token.exec(text); found !== null; found = token.exec(text)) {
      if (found[0] === '{' || found[0] === '[') depth++;
      if (found[0] === '}' || found[0] === ']') depth--;
      if (depth === 0) return token.lastIndex;
    }
    return text.length;
  }
}
