import { z } from 'zod';
import { changedLines } from './changed-lines.ts';
import { type ResultText, renderValue } from './result-text.ts';
import { counted, fileText, oneLine, pathLine, withoutEnd } from './shown-text.ts';

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

/** The places of an edit as they are now. What a call took out and put in stands in the call, so a diff would repeat it. */
export const renderEdit = renderValue(edited, ({ path, replacements, diff, diff_truncated, ...brought }) => {
  const head = `changed ${pathLine(path)}: ${counted(replacements, 'replacement')}`;
  const [now] = diff_truncated ? [] : (changedLines(diff)?.values() ?? []);
  if (now === undefined) return withDiagnostics(asDiff(head, diff, diff_truncated), brought);
  return withDiagnostics(
    { head: now.hasFinalNewline ? head : `${head}; no line break at the end`, body: now.text },
    brought,
  );
});

const asDiff = (head: string, diff: string, isCut: boolean): ResultText => ({
  head: isCut ? `${head}; the end of the diff is left out` : head,
  body: fileText(withoutEnd(diff.replace(/^--- .*\n\+\+\+ .*\n/, '').replaceAll('\r\n', '\n'))),
});

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

/** One line for each file, then the diff with its headers: the caller of a rename has seen no part of it. */
export const renderRename = renderValue(patched, ({ files, diff, diff_truncated, ...brought }) =>
  withDiagnostics(
    {
      head: `changed ${counted(files.length, 'file')}${diff_truncated ? '; the end of the diff is left out' : ''}`,
      body: `${files.map(changeLine).join('\n')}\n\n${fileText(withoutEnd(diff.replaceAll('\r\n', '\n')))}`.trimEnd(),
    },
    brought,
  ),
);

/** One line for each file, with the numbers of its new lines. Everything else stands in the patch of the caller. */
export const renderPatch = renderValue(patched, ({ files, diff, diff_truncated, ...brought }) => {
  const changes = diff_truncated ? undefined : changedLines(diff);
  const lines = files.map((file) => {
    const ranges = file.change === 'added' ? '' : changes?.get(file.path)?.ranges;
    return ranges ? `${changeLine(file)}: ${/[,-]/.test(ranges) ? 'lines' : 'line'} ${ranges}` : changeLine(file);
  });
  return withDiagnostics({ head: `changed ${counted(files.length, 'file')}`, body: lines.join('\n') }, brought);
});

const changeLine = ({ path, change, from }: z.output<typeof fileChange>): string =>
  from === undefined ? `${change} ${pathLine(path)}` : `${change} ${pathLine(from)} to ${pathLine(path)}`;
