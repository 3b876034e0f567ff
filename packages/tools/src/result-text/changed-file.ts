import { z } from 'zod';
import { type ResultText, renderValue } from './result-text.ts';
import { counted, fileText, oneLine, pathLine, withoutEnd } from './shown-text.ts';

const diagnostic = z.object({ path: z.string(), line: z.int(), column: z.int(), message: z.string() });
const diagnostics = z.array(diagnostic).optional();

/** Syntax errors stand on the last lines of the body, and the head counts them. */
function withDiagnostics({ head, body }: ResultText, errors: z.output<typeof diagnostics> = []): ResultText {
  if (errors.length === 0) return { head, body };
  const where = errors.length === 1 ? 'on the last line' : `on the last ${errors.length} lines`;
  const lines = errors.map(({ path, line, column, message }) =>
    oneLine(`${pathLine(path)}:${line}:${column} ${message}`),
  );
  return {
    head: `${head}; it brought ${counted(errors.length, 'syntax error')}, ${where}`,
    body: [...(body === '' ? [] : [body, '']), ...lines].join('\n'),
  };
}

const edited = z.object({
  path: z.string(),
  replacements: z.int(),
  diff: z.string(),
  diff_truncated: z.boolean(),
  diagnostics,
});

/** The hunks of an edit. The head names the file, so the header of the diff is left out. */
export const renderEdit = renderValue(edited, ({ path, replacements, diff, diff_truncated, diagnostics }) =>
  withDiagnostics(
    {
      head: `changed ${pathLine(path)}: ${counted(replacements, 'replacement')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
      body: fileText(withoutEnd(diff.replace(/^--- .*\n\+\+\+ .*\n/, '').replaceAll('\r\n', '\n'))),
    },
    diagnostics,
  ),
);

const written = z.object({ path: z.string(), created: z.boolean(), bytes: z.int(), diagnostics });

export const renderWrite = renderValue(written, ({ path, created, bytes, diagnostics }) =>
  withDiagnostics(
    {
      head: `${created ? 'created' : 'replaced'} ${pathLine(path)}: ${counted(bytes, 'byte')}`,
      body: '',
    },
    diagnostics,
  ),
);

const fileChange = z.object({ path: z.string(), change: z.string(), from: z.string().optional() });
const patched = z.object({ files: z.array(fileChange), diff: z.string(), diff_truncated: z.boolean(), diagnostics });

/** One line for each file, then the diff with its headers. */
export const renderPatch = renderValue(patched, ({ files, diff, diff_truncated, diagnostics }) =>
  withDiagnostics(
    {
      head: `changed ${counted(files.length, 'file')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
      body: `${files.map(changeLine).join('\n')}\n\n${fileText(withoutEnd(diff.replaceAll('\r\n', '\n')))}`.trimEnd(),
    },
    diagnostics,
  ),
);

const changeLine = ({ path, change, from }: z.output<typeof fileChange>): string =>
  from === undefined ? `${change} ${pathLine(path)}` : `${change} ${pathLine(from)} to ${pathLine(path)}`;
