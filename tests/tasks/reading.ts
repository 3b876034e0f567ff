/** How an expert reads results: it takes paths, numbers and lines from the text that a model sees. */

interface Hit {
  path: string;
  line: number;
  text: string;
}

/** The matches of a search. @throws without a match */
export function hits(found: string): [Hit, ...Hit[]] {
  const all: Hit[] = [];
  let path = '';
  for (const line of found.split('\n').slice(1)) {
    const [, number, text = ''] = /^(\d+):(.*)$/.exec(line) ?? [];
    if (number !== undefined) all.push({ path, line: Number(number), text });
    else if (line !== '' && line !== '--' && !/^\d+-/.test(line)) path = line;
  }
  const [first, ...rest] = all;
  if (first === undefined) throw new Error(`no match in ${found.slice(0, 200)}`);
  return [first, ...rest];
}

/** The matches outside of tests. @throws without a match */
export const hitsInCode = (found: string): Hit[] => hits(found).filter(({ path }) => !/(^|\/|_)tests?[./_]/.test(path));

/** The lines of a file without their numbers. */
function linesOf(file: string): string[] {
  return file.split('\n').flatMap((line) => {
    const [, text] = /^\d+\t(.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [text];
  });
}

/** The whole text of a file that was read. */
export const textOf = (file: string): string => `${linesOf(file).join('\n')}\n`;

/**
 * The text from the first line with `from` to the next line with `to`, or that line alone: what an edit replaces.
 * @throws when a line is not there
 */
export function part(file: string, from: string | RegExp, to?: string | RegExp): string {
  const lines = linesOf(file);
  const first = lines.findIndex((line) => has(line, from));
  if (first < 0) throw new Error(`no line with ${from} in ${file.slice(0, 200)}`);
  if (to === undefined) return lines[first] as string;
  const last = lines.findIndex((line, at) => at > first && has(line, to));
  if (last < 0) throw new Error(`no line with ${to} after ${from}`);
  return lines.slice(first, last + 1).join('\n');
}

const has = (line: string, what: string | RegExp): boolean =>
  typeof what === 'string' ? line.includes(what) : what.test(line);

/** The first group of a pattern in a result. @throws without a match */
export function found(result: string, pattern: RegExp): string {
  const group = pattern.exec(result)?.[1];
  if (group === undefined) throw new Error(`no ${pattern} in ${result.slice(0, 400)}`);
  return group;
}

/** @throws when the command did not end with this code */
export function expectExit(result: string, code: number): void {
  if (!new RegExp(`^exit ${code}\\b`, 'm').test(result)) throw new Error(`not exit ${code}: ${result.slice(0, 800)}`);
}
