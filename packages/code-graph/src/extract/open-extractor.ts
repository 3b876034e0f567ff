import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type treeSitter from '@vscode/tree-sitter-wasm';
import type { Node, Parser, Query, Language as TreeLanguage } from '@vscode/tree-sitter-wasm';
import type { FileFacts } from '../facts.ts';
import type { Grammar } from '../grammars/grammar.ts';
import { grammarOf, type Language } from '../grammars/grammar-of.ts';
import { collect } from './collect.ts';
import * as extractor from './extractor.ts';
import { factsOf } from './facts-of.ts';

export type { Extractor } from './extractor.ts';

/**
 * Loads the parser. Grammars are loaded when the first file of their language is parsed.
 *
 * @param options.grammars the folder with the grammars; by default the folder of the installed package
 */
export async function openExtractor(options: { grammars?: string } = {}): Promise<extractor.Extractor> {
  const library = await loadParser(options.grammars);
  const parser = new library.treeSitter.Parser();
  /** C and C++ share a grammar; its query takes 250 ms to compile. */
  const loaded = new Map<Grammar, Promise<Loaded>>();
  let isBroken = false;
  const withParser = async <Result>(
    file: { path: string; language: Language; bytes: Uint8Array },
    work: (known: { parser: Parser; language: Loaded; text: string }) => Result,
  ): Promise<Result | extractor.Unparsed> => {
    const source = extractor.sourceText(file);
    if ('unparsed' in source) return source;
    const grammar = grammarOf(file.language);
    const known = loaded.get(grammar) ?? load(library, grammar);
    loaded.set(grammar, known);
    const language = await known;
    if (isBroken) return { unparsed: 'parser_failed' };
    try {
      return work({ parser, language, text: source.text });
    } catch {
      // A trap of WASM leaves its memory in the middle of the work.
      isBroken = true;
      return { unparsed: 'parser_failed' };
    } finally {
      isBroken ||= library.memory() > wornMemory;
    }
  };
  return {
    get isBroken() {
      return isBroken;
    },
    extract: (file, limits) => withParser(file, (known) => parse(known, limits)),
    errors: (file, limits) => withParser(file, (known) => findErrors(known, limits)),
  };
}

/** A large file leaves its memory behind; most need less than the 32 MB of the beginning. */
const wornMemory = 256 * 1024 * 1024;

interface Loaded {
  grammar: Grammar;
  language: TreeLanguage;
  query: Query;
}

async function load({ treeSitter, folder }: ParserLibrary, grammar: Grammar): Promise<Loaded> {
  const language = await treeSitter.Language.load(join(folder, grammar.wasm));
  return { grammar, language, query: new treeSitter.Query(language, grammar.query) };
}

/** The matches of a tree of this size take about 200 MB. */
const maxNodes = 500_000;

type Known = { parser: Parser; language: Loaded; text: string };

function parse(known: Known, { timeoutMs, maxFacts }: extractor.ExtractLimits): FileFacts | extractor.Unparsed {
  const { grammar, query } = known.language;
  const { text } = known;
  return withTree(known, timeoutMs, (root, deadline) => {
    const matches = query.matches(root, { progressCallback: deadline.check });
    if (deadline.isOver) return { unparsed: 'timeout' };
    const found = factsOf({ grammar, text, maxFacts }, collect({ grammar, matches, text }));
    const { symbols, imports, references, cut } = found;
    return { symbols, imports, references, has_errors: root.hasError, cut };
  });
}

const findErrors = (
  known: Known,
  { timeoutMs }: Pick<extractor.ExtractLimits, 'timeoutMs'>,
): { errors: extractor.KeyedError[] } | extractor.Unparsed =>
  withTree(known, timeoutMs, (root) => ({ errors: extractor.syntaxErrors(root, known.text) }));

function withTree<Result>(
  { parser, language: { language }, text }: Known,
  timeoutMs: number,
  work: (root: Node, deadline: Deadline) => Result | extractor.Unparsed,
): Result | extractor.Unparsed {
  const deadline = startDeadline(timeoutMs);
  parser.setLanguage(language);
  const tree = parser.parse(text, null, { progressCallback: deadline.check });
  if (tree === null) {
    // Without the reset the next file would continue at the place of this stop.
    parser.reset();
    return { unparsed: 'timeout' };
  }
  try {
    const root = tree.rootNode;
    return root.descendantCount > maxNodes ? { unparsed: 'too_large' } : work(root, deadline);
  } finally {
    tree.delete();
  }
}

/** A callback with the decision to stop, and the record of this decision. */
interface Deadline {
  check: () => boolean;
  readonly isOver: boolean;
}

/** On a busy machine a file may wait for this multiple of its work time. */
const patience = 4;

/** Counts the processor time of the process, so a busy machine parses the same files as an idle machine. */
function startDeadline(timeoutMs: number): Deadline {
  const start = performance.now();
  const worked = workedMs();
  let isOver = false;
  return {
    check: () => {
      const passed = performance.now() - start;
      isOver ||= passed > timeoutMs && (passed > patience * timeoutMs || workedMs() - worked > timeoutMs);
      return isOver;
    },
    get isOver() {
      return isOver;
    },
  };
}

function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

type TreeSitter = typeof treeSitter;

/** The library, with a memory of its own. */
interface ParserLibrary {
  treeSitter: TreeSitter;
  folder: string;
  /** Bytes taken by the parser; the parser never gives any back. */
  memory(): number;
}

/** Missing in the types of Node. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

const page = 64 * 1024;
const initialMemory = 32 * 1024 * 1024;
/** When they are used up the parser stops with an error. */
const maxMemory = 512 * 1024 * 1024;

/**
 * The library has a single WASM module for a process, useless after an error, so each caller gets a copy. Its C stack is small: ambiguous
 * text makes the parser recurse, leave the memory, and end with an error.
 */
async function loadParser(grammars: string | undefined): Promise<ParserLibrary> {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@vscode/tree-sitter-wasm');
  delete require.cache[path];
  const library: TreeSitter = require(path);
  delete require.cache[path];
  const folder = grammars ?? dirname(path);
  const wasmMemory = new WebAssembly.Memory({ initial: initialMemory / page, maximum: maxMemory / page });
  const options = { locateFile: (file: string) => join(folder, file), wasmMemory, printErr: () => {} };
  await library.Parser.init(options);
  return { treeSitter: library, folder, memory: () => wasmMemory.buffer.byteLength };
}
