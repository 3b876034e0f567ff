import type * as vscodeLanguageserverProtocol from 'vscode-languageserver-protocol';
import type { FileRename, NamedPlace, Place, ServerReply } from '../protocol.ts';
import { type LanguageServer, NoAnswer } from './language-server.ts';
import { lineStarts, linesOf, pathOf, readTextFile, uriOf } from './text-file.ts';

/** Most places of an answer, and lines of a declaration. */
const maxPlaces = 500;
const maxLines = 20;
const maxLineLength = 300;

/** The declaration of a name, or all places of the name. */
export async function findPlaces(
  server: LanguageServer,
  { ask, ...named }: NamedPlace & { ask: 'definition' | 'references' },
): Promise<ServerReply> {
  const at = await openAt(server, named);
  const context = ask === 'references' ? { context: { includeDeclaration: true } } : {};
  type Found =
    | vscodeLanguageserverProtocol.Definition
    | vscodeLanguageserverProtocol.LocationLink[]
    | vscodeLanguageserverProtocol.Location[]
    | null;
  const found = await server.ask<Found>(`textDocument/${ask}`, { ...at, ...context });
  const ranges = [found ?? []].flat().map(rangeOf);
  const lines = new Map<string, string[]>();
  const places = ranges.flatMap(({ uri, name, whole }): Place[] => {
    const path = pathOf(uri);
    if (path === undefined) return [];
    const known = lines.get(path) ?? linesOf(readTextFile(path)?.text ?? '');
    lines.set(path, known);
    const [from, to] = ask === 'references' ? [name.start.line, name.start.line] : [whole.start.line, whole.end.line];
    const shown = known.slice(from, Math.min(to + 1, from + maxLines)).map((line) => line.slice(0, maxLineLength));
    return [{ path, line: name.start.line + 1, column: name.start.character + 1, text: shown.join('\n') }];
  });
  const sorted = places.toSorted((a, b) => compare(a.path, b.path) || a.line - b.line || a.column - b.column);
  return { places: sorted.slice(0, maxPlaces), total: sorted.length };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `whole`: the declaration around the name, where the server says. */
function rangeOf(found: vscodeLanguageserverProtocol.Location | vscodeLanguageserverProtocol.LocationLink): {
  uri: string;
  name: vscodeLanguageserverProtocol.Range;
  whole: vscodeLanguageserverProtocol.Range;
} {
  if ('targetUri' in found) return { uri: found.targetUri, name: found.targetSelectionRange, whole: found.targetRange };
  return { uri: found.uri, name: found.range, whole: found.range };
}

/** The changes that a rename makes. Changes nothing. */
export async function renameSymbol(
  server: LanguageServer,
  { new_name: newName, ...named }: NamedPlace & { new_name: string },
): Promise<FileRename[]> {
  const at = await openAt(server, named);
  const edit = await server.ask<vscodeLanguageserverProtocol.WorkspaceEdit | null>('textDocument/rename', {
    ...at,
    newName,
  });
  const byFile = textEditsOf(edit ?? {});
  if (byFile.size === 0) throw new NoAnswer('ERENAME', `Nothing is named by ${JSON.stringify(named.symbol)} there.`);
  return [...byFile].map(([uri, edits]) => renameIn(uri, edits)).toSorted((a, b) => compare(a.path, b.path));
}

type Edits = readonly { range: vscodeLanguageserverProtocol.Range; newText: string }[];

function textEditsOf({
  changes = {},
  documentChanges,
}: vscodeLanguageserverProtocol.WorkspaceEdit): Map<string, Edits> {
  const all = new Map<string, Edits>(documentChanges === undefined ? Object.entries(changes) : []);
  for (const change of documentChanges ?? []) {
    if (!('textDocument' in change))
      throw new NoAnswer('ERENAME', `The rename would also ${change.kind} a file, and only names are changed here.`);
    const edits = change.edits.map((one) => {
      if ('newText' in one) return one;
      throw new NoAnswer('ERENAME', 'The server answered with a snippet, and not with a text.');
    });
    all.set(change.textDocument.uri, [...(all.get(change.textDocument.uri) ?? []), ...edits]);
  }
  return all;
}

function renameIn(uri: string, edits: Edits): FileRename {
  const path = pathOf(uri);
  const file = path === undefined || path.startsWith('/') ? undefined : readTextFile(path);
  if (path === undefined || file === undefined || path.split('/').includes('node_modules'))
    throw new NoAnswer('ERENAME', `The rename would change ${path ?? uri}, which is no source file of the workspace.`);
  const starts = lineStarts(file.text);
  const offset = ({ line, character }: vscodeLanguageserverProtocol.Position) =>
    Math.min((starts[line] ?? 0) + character, file.text.length);
  const placed = edits.map(({ range, newText: text }) => ({
    start: offset(range.start),
    end: offset(range.end),
    text,
  }));
  return { path, sha256: file.sha256, edits: placed.toSorted((a, b) => a.start - b.start) };
}

/** Opens the file, and finds the first place of the name on the line. @throws NoAnswer */
async function openAt(server: LanguageServer, { path, line, symbol }: NamedPlace) {
  const file = readTextFile(path);
  if (file === undefined) throw new NoAnswer('ENOPLACE', `${path} is no text file that can be read here.`);
  const lines = linesOf(file.text);
  const name = new RegExp(`(?<![\\p{ID_Continue}$])${RegExp.escape(symbol)}(?![\\p{ID_Continue}$])`, 'u');
  const character = lines[line - 1]?.search(name) ?? -1;
  if (character < 0) throw new NoAnswer('ENOSYMBOL', notThere({ path, line, symbol }, lines, name));
  await server.open(path, file.text);
  return { textDocument: { uri: uriOf(path) }, position: { line: line - 1, character } };
}

function notThere({ path, line, symbol }: NamedPlace, lines: readonly string[], name: RegExp): string {
  const on = lines.flatMap((text, index) => (name.test(text) ? [index + 1] : []));
  const nearest = on.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line)).slice(0, 5);
  const where = nearest.length === 0 ? 'nor has any other' : `but line ${nearest.join(', ')} has`;
  return `Line ${line} of ${path} does not have the name ${JSON.stringify(symbol)}, ${where}.`;
}
