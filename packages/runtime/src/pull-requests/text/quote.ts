import { cut, oneLine, plain } from '@holdpoint/readable';

/**
 * A text of a model or of a person as a block of code: a code host reads no mention, no reference to an issue, no word that closes an issue, no
 * picture and no HTML in such a block.
 */
export function codeBlock(text: string, most: number): string {
  const shown = cut(plain(text).trim(), most);
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return [`${fence}text`, ...shown.split('\n').flatMap((line) => wrap(line)), fence].join('\n');
}

/** A short text on one line, as code. */
export function code(text: string, most = 200): string {
  const shown = oneLine(text, most).replaceAll('\n', ' ');
  const fence = '`'.repeat(longestRun(shown) + 1);
  const edge = /^`|`$/.test(shown) ? ' ' : '';
  return shown === '' ? '` `' : `${fence}${edge}${shown}${edge}${fence}`;
}

const longestRun = (text: string): number => Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));

/** Blocks of code are not wrapped where they are shown. */
const width = 100;

function wrap(line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const at = space > width / 2 ? space : width;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}
