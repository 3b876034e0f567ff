import { z } from 'zod';
import { counted, fileText, oneLine, pathLine, type ResultText, renderValue, withoutEnd } from './error-line.ts';

const diagnostic = z.object({ path: z.string(), line: z.int(), column: z.int(), message: z.string() });
const errors = { diagnostics: z.array(diagnostic).optional(), more_diagnostics: z.int().optional() };
type Brought = z.output<z.ZodObject<typeof errors>>;

/** Errors stand on the last lines of the body, and the head counts all of them. */
function withDiagnostics(
  { head, body }: ResultText,
  { diagnostics = [], more_diagnostics: more = 0 }: Brought,
): ResultText {
  if (diagnostics.length === 0) return { head, body };
  const where = diagnostics.length === 1 ? 'on the last line' : `on the last ${diagnostics.length} lines`;
  const lines = diagnostics.map(({ path, line, column, message }) =>
    oneLine(`${pathLine(path)}:${line}:${column} ${message}`),
  );
  return {
    head: `${head}; it brought ${counted(diagnostics.length + more, 'error')}, ${more > 0 ? 'the first ' : ''}${where}`,
    body: [...(body === '' ? [] : [body, '']), ...lines].join('\n'),
  };
}

const edited = z.object({
  path: z.string(),
  replacements: z.int(),
  diff: z.string(),
  diff_truncated: z.boolean(),
  ...errors,
});

/** The hunks of an edit. The head names the file, so the header of the diff is left out. */
export const renderEdit = renderValue(edited, ({ path, replacements, diff, diff_truncated, ...brought }) =>
  withDiagnostics(
    {
      head: `changed ${pathLine(path)}: ${counted(replacements, 'replacement')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
      body: fileText(withoutEnd(diff.replace(/^--- .*\n\+\+\+ .*\n/, '').replaceAll('\r\n', '\n'))),
    },
    brought,
  ),
);

const written = z.object({ path: z.string(), created: z.boolean(), bytes: z.int(), ...errors });

export const renderWrite = renderValue(written, ({ path, created, bytes, ...brought }) =>
  withDiagnostics(
    {
      head: `${created ? 'created' : 'replaced'} ${pathLine(path)}: ${counted(bytes, 'byte')}`,
      body: '',
    },
    brought,
  ),
);

const fileChange = z.object({ path: z.string(), change: z.string(), from: z.string().optional() });
const patched = z.object({ files: z.array(fileChange), diff: z.string(), diff_truncated: z.boolean(), ...errors });

/** One line for each file, then the diff with its headers. */
export const renderPatch = renderValue(patched, ({ files, diff, diff_truncated, ...brought }) =>
  withDiagnostics(
    {
      head: `changed ${counted(files.length, 'file')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
      body: `${files.map(changeLine).join('\n')}\n\n${fileText(withoutEnd(diff.replaceAll('\r\n', '\n')))}`.trimEnd(),
    },
    brought,
  ),
);

const changeLine = ({ path, change, from }: z.output<typeof fileChange>): string =>
  from === undefined ? `${change} ${pathLine(path)}` : `${change} ${pathLine(from)} to ${pathLine(path)}`;
