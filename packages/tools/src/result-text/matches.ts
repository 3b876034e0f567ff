import { z } from 'zod';
import { type ResultText, renderValue } from './result-text.ts';
import { fileText, pathLine, shownOf, withoutEnd } from './shown-text.ts';

const about = {
  total: z.int().nullable(),
  binary_files: z.array(z.string()).default([]),
  warnings: z.array(z.string()).default([]),
};
const lines = z.array(z.string()).default([]);
const match = z.object({ path: z.string(), line: z.int(), text: z.string(), before: lines, after: lines });
const schema = z.union([
  z.object({ matches: z.array(match), ...about }),
  z.object({ files: z.array(z.string()), ...about }),
  z.object({ counts: z.array(z.object({ path: z.string(), matches: z.int() })), ...about }),
]);
type Found = z.output<typeof schema>;
type Match = z.output<typeof match>;

/** Matches below the path of their file, as `number:text`, in the manner of ripgrep. */
export const renderMatches = renderValue(schema, (found) => {
  const { head, body } = shown(found);
  return { head: [head, ...remarks(found)].join('; '), body };
});

function shown(found: Found): ResultText {
  if ('matches' in found) {
    const byPath = Map.groupBy(found.matches, ({ path }) => path);
    const files = [...byPath].map(([path, matches]) => [headingOf(path), ...numbered(matches)].join('\n'));
    return { head: shownOf(found.matches.length, found.total, 'match', 'matches'), body: files.join('\n\n') };
  }
  if ('files' in found) {
    return { head: shownOf(found.files.length, found.total, 'file'), body: found.files.map(pathLine).join('\n') };
  }
  const counts = found.counts.map(({ path, matches }) => `${pathLine(path)}:${matches}`);
  return { head: shownOf(found.counts.length, found.total, 'file'), body: counts.join('\n') };
}

/** A path such as `12:a` is quoted: a line with a number is a line of a file. */
const headingOf = (path: string): string => (/^\d+[:-]/.test(path) ? JSON.stringify(path) : pathLine(path));

/** A line between two matches belongs to both of them, and is shown once. */
function numbered(matches: readonly Match[]): string[] {
  const byLine = new Map<number, string>();
  for (const { line, before, after } of matches) {
    for (const [at, text] of before.entries()) byLine.set(line - before.length + at, `-${fileLine(text)}`);
    for (const [at, text] of after.entries()) byLine.set(line + 1 + at, `-${fileLine(text)}`);
  }
  for (const { line, text } of matches) byLine.set(line, `:${fileLine(text)}`);
  const sorted = [...byLine].sort(([one], [other]) => one - other);
  return sorted.flatMap(([line, text], at) => {
    const before = sorted[at - 1];
    return [...(hasContext(matches) && before && line > before[0] + 1 ? ['--'] : []), `${line}${text}`];
  });
}

const hasContext = (matches: readonly Match[]): boolean =>
  matches.some(({ before, after }) => before.length + after.length > 0);

const fileLine = (text: string): string => fileText(withoutEnd(text).replace(/\r$/, '')).replaceAll('\n', '<U+000A>');

function remarks({ binary_files, warnings }: Found): string[] {
  return [
    ...(binary_files.length === 0 ? [] : [`binary files that match: ${binary_files.map(pathLine).join(', ')}`]),
    ...warnings,
  ];
}
