import { posix } from 'node:path';
import type { Diagnostic, DocumentDiagnosticReport } from 'vscode-languageserver-protocol';
import type { ChangedText, TypeProblem } from '../protocol.ts';
import { importersOf } from './importers.ts';
import type { LanguageServer } from './language-server.ts';
import { readTextFile, root, uriOf } from './text-file.ts';

/** `DiagnosticSeverity.Error` of LSP. */
const error = 1;

/** Milliseconds for the errors in other files. */
const elsewhereMs = 1500;

/**
 * The new errors that a change of some files brought: the errors after the change, less equal errors before. Where the changed files have none, the
 * files that import them are looked at.
 */
export async function newProblems(server: LanguageServer, files: readonly ChangedText[]): Promise<TypeProblem[]> {
  for (const { path, after } of files) await server.open(path, after);
  const changed = files.map(({ path }) => path);
  const own = await newIn(server, changed, files);
  if (own.length > 0 || !answersAtOnce(server)) return own;
  server.setDeadline(elsewhereMs);
  return problemsElsewhere(server, files).catch(() => []);
}

/** A server that sends diagnostics by itself says nothing of files whose text is unchanged. */
const answersAtOnce = ({ capabilities }: LanguageServer): boolean =>
  hasTsserver(capabilities) || capabilities.diagnosticProvider !== undefined;

async function problemsElsewhere(server: LanguageServer, files: readonly ChangedText[]): Promise<TypeProblem[]> {
  const texts = importersOf(
    server.files,
    files.map(({ path }) => path),
  ).flatMap((path) => {
    const file = readTextFile(path);
    return file === undefined ? [] : [{ path, text: file.text }];
  });
  for (const { path, text } of texts) await server.open(path, text);
  return newIn(
    server,
    texts.map(({ path }) => path),
    files,
  );
}

/** The errors in the files of `paths` that were not there before the change. The changed files are open with their texts after it. */
async function newIn(
  server: LanguageServer,
  paths: readonly string[],
  files: readonly ChangedText[],
): Promise<TypeProblem[]> {
  const now = await problemsOf(server, paths);
  const wrong = paths.filter((path) => now.some((one) => one.path === path));
  if (wrong.length === 0) return [];
  for (const { path, before } of files) await server.open(path, before);
  const then = await problemsOf(server, wrong);
  for (const { path, after } of files) await server.open(path, after);
  const left = then.map(keyOf);
  return now.filter((one) => {
    const at = left.indexOf(keyOf(one));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Lines move with a change, so equal errors have equal texts. */
const keyOf = ({ path, message }: TypeProblem): string => `${path}\n${message}`;

async function problemsOf(server: LanguageServer, paths: readonly string[]): Promise<TypeProblem[]> {
  const found: TypeProblem[] = [];
  for (const path of paths) {
    for (const one of await diagnosticsOf(server, path)) {
      if ((one.severity ?? error) !== error) continue;
      const { start } = one.range;
      found.push({ path, line: start.line + 1, column: start.character + 1, message: messageOf(one) });
    }
  }
  return found;
}

function messageOf({ code, message }: Diagnostic): string {
  const text = typeof message === 'string' ? message : String((message as { value?: unknown }).value);
  return code === undefined ? text : `${text} (${code})`;
}

async function diagnosticsOf(server: LanguageServer, path: string): Promise<readonly Diagnostic[]> {
  const { capabilities } = server;
  if (hasTsserver(capabilities)) {
    const file = posix.resolve(root, path);
    return [
      ...(await askTsserver(server, 'syntacticDiagnosticsSync', file)),
      ...(await askTsserver(server, 'semanticDiagnosticsSync', file)),
    ];
  }
  if (capabilities.diagnosticProvider === undefined) return server.published(path);
  const params = { textDocument: { uri: uriOf(path) } };
  const report = await server.ask<DocumentDiagnosticReport>('textDocument/diagnostic', params);
  return report.kind === 'full' ? report.items : [];
}

/** typescript-language-server sends its diagnostics in parts, and says of none whether it is the last. tsserver behind it answers with all of them. */
const tsserver = 'typescript.tsserverRequest';

const hasTsserver = ({ executeCommandProvider }: LanguageServer['capabilities']): boolean =>
  executeCommandProvider?.commands.includes(tsserver) === true;

interface TsserverDiagnostic {
  message: string;
  category: string;
  code: number;
  startLocation: { line: number; offset: number };
  endLocation: { line: number; offset: number };
}

async function askTsserver(server: LanguageServer, command: string, file: string): Promise<Diagnostic[]> {
  const answer = await server.ask<{ body?: TsserverDiagnostic[] }>('workspace/executeCommand', {
    command: tsserver,
    arguments: [command, { file, includeLinePosition: true }],
  });
  return (answer.body ?? []).map(({ message, category, code, startLocation, endLocation }) => ({
    message,
    code: `TS${code}`,
    severity: category === 'error' ? error : 2,
    range: { start: positionOf(startLocation), end: positionOf(endLocation) },
  }));
}

const positionOf = ({ line, offset }: { line: number; offset: number }) => ({ line: line - 1, character: offset - 1 });
