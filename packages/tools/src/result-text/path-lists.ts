import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { pathLine, shownOf } from './shown-text.ts';

const found = z.object({ paths: z.array(z.string()), total: z.int().nullable() });

export const renderPaths = renderValue(found, ({ paths, total }) => ({
  head: shownOf(paths.length, total, 'path'),
  body: paths.map(pathLine).join('\n'),
}));

const entry = z.object({ name: z.string(), type: z.string(), bytes: z.int().nullish() });
const listed = z.object({ entries: z.array(entry), total: z.int() });

/** One name a line, in the manner of `ls -F`; a file with its bytes. */
export const renderEntries = renderValue(listed, ({ entries, total }) => ({
  head: shownOf(entries.length, total, 'entry', 'entries'),
  body: entries.map(entryLine).join('\n'),
}));

function entryLine({ name, type, bytes }: z.output<typeof entry>): string {
  if (type === 'file') return `${pathLine(name)}\t${bytes ?? ''}`.trimEnd();
  return `${pathLine(name)}${marks.get(type) ?? '?'}`;
}

const marks = new Map([
  ['directory', '/'],
  ['symlink', '@'],
]);
