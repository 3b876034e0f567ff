import { z } from 'zod';
import { renderValue } from './result-text.ts';
import { counted, fileText, pathLine, withoutEnd } from './shown-text.ts';

const edited = z.object({ path: z.string(), replacements: z.int(), diff: z.string(), diff_truncated: z.boolean() });

/** The hunks of an edit. The head names the file, so the header of the diff is left out. */
export const renderEdit = renderValue(edited, ({ path, replacements, diff, diff_truncated }) => ({
  head: `changed ${pathLine(path)}: ${counted(replacements, 'replacement')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
  body: fileText(withoutEnd(diff.replace(/^--- .*\n\+\+\+ .*\n/, '').replaceAll('\r\n', '\n'))),
}));

const written = z.object({ path: z.string(), created: z.boolean(), bytes: z.int() });

export const renderWrite = renderValue(written, ({ path, created, bytes }) => ({
  head: `${created ? 'created' : 'replaced'} ${pathLine(path)}: ${counted(bytes, 'byte')}`,
  body: '',
}));
