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

const fileChange = z.object({ path: z.string(), change: z.string(), from: z.string().optional() });
const patched = z.object({ files: z.array(fileChange), diff: z.string(), diff_truncated: z.boolean() });

/** One line for each file, then the diff with its headers. */
export const renderPatch = renderValue(patched, ({ files, diff, diff_truncated }) => ({
  head: `changed ${counted(files.length, 'file')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
  body: `${files.map(changeLine).join('\n')}\n\n${fileText(withoutEnd(diff.replaceAll('\r\n', '\n')))}`.trimEnd(),
}));

const changeLine = ({ path, change, from }: z.output<typeof fileChange>): string =>
  from === undefined ? `${change} ${pathLine(path)}` : `${change} ${pathLine(from)} to ${pathLine(path)}`;
