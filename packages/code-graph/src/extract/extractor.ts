import type { Node } from '@vscode/tree-sitter-wasm';
import type { FileFacts, SyntaxProblem } from '../facts.ts';
import type { Language } from '../grammars/grammar-of.ts';

/** Errors of a file, and nodes visited in the search for them. */
const mostErrors = 50;
const mostVisited = 20_000;
const longestText = 60;

export interface KeyedError extends SyntaxProblem {
  /** Equal for the same error in another version of the file: its words and the text of its line. */
  key: string;
}

/** The places of a tree where the text does not follow the grammar, in the order of the file. */
export function syntaxErrors(root: Node, text: string): KeyedError[] {
  if (!root.hasError) return [];
  const lines = text.split('\n');
  const errors: KeyedError[] = [];
  const open: Node[] = [root];
  for (let visited = 0; visited < mostVisited && errors.length < mostErrors; visited++) {
    const node = open.pop();
    if (node === undefined) break;
    if (node.isError || node.isMissing) {
      errors.push(describe(node, lines));
      continue;
    }
    const children = node.children.filter((child) => child !== null && (child.hasError || child.isMissing));
    for (const child of children.toReversed()) if (child !== null) open.push(child);
  }
  return errors;
}

function describe(node: Node, lines: readonly string[]): KeyedError {
  const { row, column } = node.startPosition;
  const line = (lines[row] ?? '').trim();
  const message = node.isMissing ? `missing ${JSON.stringify(node.type)}` : unexpected(node);
  return { line: row + 1, column: column + 1, message, key: `${message}\0${line.slice(0, 200)}` };
}

function unexpected(node: Node): string {
  const [first = ''] = node.text.slice(0, 1000).split('\n');
  const shown = first.trim().slice(0, longestText).toWellFormed();
  const last = node.endPosition.row + 1;
  const until = last > node.startPosition.row + 1 ? `, up to line ${last}` : '';
  return `unexpected ${JSON.stringify(shown)}${until}`;
}

/** The errors without those of the file before. An error that moved with its line is not new. */
export function newErrors(after: readonly KeyedError[], before: readonly KeyedError[]): SyntaxProblem[] {
  const known = new Map<string, number>();
  for (const { key } of before) known.set(key, (known.get(key) ?? 0) + 1);
  return after.flatMap(({ key, ...error }) => {
    const left = known.get(key) ?? 0;
    known.set(key, left - 1);
    return left > 0 ? [] : [error];
  });
}

interface SourceFile {
  path: string;
  language: Language;
  bytes: Uint8Array;
}

export interface ExtractLimits {
  /**
   * Milliseconds of work for the parse and the read of a file, without the load of its grammar. On a busy machine the file may wait 4 times
   * as long.
   */
  timeoutMs: number;
  /** Symbols, imports and references of a file, together. Facts beyond the limit are left out, and `cut` is set. */
  maxFacts: number;
}

/**
 * Why a file has no facts. `too_large`, `minified` and `binary` are seen before parsing. `timeout`: not parsed in time.
 * `parser_failed`: the parser broke, as when its memory is used up; then `isBroken` is set.
 */
type UnparsedReason = 'too_large' | 'minified' | 'binary' | 'timeout' | 'parser_failed';
export interface Unparsed {
  unparsed: UnparsedReason;
}

export interface Extractor {
  /** No content of a file makes the call reject. The same file has the same facts. */
  extract(file: SourceFile, limits: ExtractLimits): Promise<FileFacts | Unparsed>;
  /** The syntax errors of a file, without its facts. Never rejects because of a content. */
  errors(file: SourceFile, limits: Pick<ExtractLimits, 'timeoutMs'>): Promise<{ errors: KeyedError[] } | Unparsed>;
  /**
   * An error in the parser, or the memory of earlier files, has made the extractor useless: open another extractor, best in a new process.
   */
  readonly isBroken: boolean;
}

/** A file of 2 MiB takes about 1 s and 200 MB; hand-written ones are smaller. */
const maxBytes = 2 * 1024 * 1024;
const smallestMinified = 10_000;
const minifiedLineLength = 500;

/** The text of a file for the parser, or the reason of a refusal. U+FFFD stands for bytes outside of UTF-8: names are mostly ASCII. */
export function sourceText({ path, bytes }: { path: string; bytes: Uint8Array }): { text: string } | Unparsed {
  if (bytes.length > maxBytes) return { unparsed: 'too_large' };
  const encoding = utf16(bytes);
  if (encoding === undefined && bytes.subarray(0, 8192).includes(0)) return { unparsed: 'binary' };
  const text = new TextDecoder(encoding ?? 'utf-8').decode(bytes);
  return isMinified(path, text) ? { unparsed: 'minified' } : { text };
}

function utf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

function isMinified(path: string, text: string): boolean {
  if (text.length < smallestMinified) return false;
  if (/\.min\.[cm]?js$/.test(path)) return true;
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return text.length / lines > minifiedLineLength;
}
