import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import treeSitter, { type Parser, type Query } from '@vscode/tree-sitter-wasm';
import type { FileFacts } from '../facts.ts';
import type { Grammar } from '../grammars/grammar.ts';
import { grammarOf } from '../grammars/grammar-of.ts';
import type { Language } from '../grammars/language.ts';
import { collect } from './collect.ts';
import { factsOf } from './facts-of.ts';
import { sourceText } from './source-text.ts';

/** Facts of files with another number were extracted by other rules and must not be kept. */
export const extractorVersion = 1;

export interface SourceFile {
  path: string;
  language: Language;
  bytes: Uint8Array;
}

export interface ExtractLimits {
  /** Milliseconds for parsing and reading one file, without loading its grammar. */
  timeoutMs: number;
  /** Symbols, imports and references of a file, together. What is beyond is left out, and `cut` says so. */
  maxFacts: number;
}

/**
 * Why a file has no facts. `too_large`, `minified` and `binary` are seen before parsing. `timeout`: not parsed in time.
 * `parser_failed`: the parser broke, as when its memory is used up; then `isBroken` is set.
 */
export type UnparsedReason = 'too_large' | 'minified' | 'binary' | 'timeout' | 'parser_failed';
export interface Unparsed {
  unparsed: UnparsedReason;
}

export interface Extractor {
  /** Never rejects for what a file contains. The same file has the same facts. */
  extract(file: SourceFile, limits: ExtractLimits): Promise<FileFacts | Unparsed>;
  /** The parser cannot be used any more: end the process and start a new one. */
  readonly isBroken: boolean;
}

/**
 * Loads the parser. Grammars are loaded when the first file of their language is parsed.
 *
 * @param options.grammars the folder with the grammars; by default the one of the installed package
 */
export async function openExtractor(options: { grammars?: string } = {}): Promise<Extractor> {
  const folder = options.grammars ?? dirname(createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm'));
  await treeSitter.Parser.init({ locateFile: (file) => join(folder, file) });
  const parser = new treeSitter.Parser();
  const loaded = new Map<Language, Promise<Loaded>>();
  let isBroken = false;
  return {
    get isBroken() {
      return isBroken;
    },
    async extract(file, limits) {
      const source = sourceText(file);
      if ('unparsed' in source) return source;
      const known = loaded.get(file.language) ?? load(folder, file.language);
      loaded.set(file.language, known);
      const language = await known;
      if (isBroken) return { unparsed: 'parser_failed' };
      try {
        return parse({ parser, language, text: source.text }, limits);
      } catch {
        // A trap of WASM leaves its memory as it was in the middle of the work.
        isBroken = true;
        return { unparsed: 'parser_failed' };
      }
    },
  };
}

interface Loaded {
  grammar: Grammar;
  language: treeSitter.Language;
  query: Query;
}

async function load(folder: string, name: Language): Promise<Loaded> {
  const grammar = grammarOf(name);
  const language = await treeSitter.Language.load(join(folder, grammar.wasm));
  return { grammar, language, query: new treeSitter.Query(language, grammar.query) };
}

/** The matches of a tree of this size take about 200 MB. */
const maxNodes = 500_000;

function parse(
  { parser, language: { grammar, language, query }, text }: { parser: Parser; language: Loaded; text: string },
  { timeoutMs, maxFacts }: ExtractLimits,
): FileFacts | Unparsed {
  const deadline = performance.now() + timeoutMs;
  let isLate = false;
  const progressCallback = () => {
    isLate = performance.now() > deadline;
    return isLate;
  };
  parser.setLanguage(language);
  const tree = parser.parse(text, null, { progressCallback });
  if (tree === null) {
    // Otherwise the next file would continue where this one stopped.
    parser.reset();
    return { unparsed: 'timeout' };
  }
  try {
    const root = tree.rootNode;
    if (root.descendantCount > maxNodes) return { unparsed: 'too_large' };
    const matches = query.matches(root, { progressCallback });
    if (isLate) return { unparsed: 'timeout' };
    const { symbols, imports, references, cut } = factsOf(
      { grammar, text, maxFacts },
      collect({ grammar, matches, text }),
    );
    return { symbols, imports, references, has_errors: root.hasError, cut };
  } finally {
    tree.delete();
  }
}
