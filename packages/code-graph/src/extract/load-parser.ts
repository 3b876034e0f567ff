import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type treeSitter from '@vscode/tree-sitter-wasm';

type TreeSitter = typeof treeSitter;

/** The library, with a memory of its own. */
export interface ParserLibrary {
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
export async function loadParser(grammars: string | undefined): Promise<ParserLibrary> {
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
