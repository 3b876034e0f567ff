import type { Node } from '@vscode/tree-sitter-wasm';
import type { ImportFact, SymbolFact } from '../facts.ts';

export type SymbolKind = SymbolFact['kind'];

/**
 * The extraction's knowledge of a language. The captures of `query` are:
 *
 * - `@symbol.KIND` a whole declaration, with its `@name`, and `@in` where its text names the container (a Go receiver)
 * - `@symbol.module.rest` a statement with a module for all text behind
 * - `@scope` the same without a symbol: a container with a `@name`, as a Rust `impl`
 * - `@block` a scope without a name, with variables but no symbols, as a function expression
 * - `@binding` a name that is a variable of the module or class, or local in a function
 * - `@local` a name without a meaning outside the declaration around the name: a parameter, a type parameter
 * - `@drop` neither of the two, as the key of a named argument
 * - `@mark.NAME` a modifier of the declarations directly inside the range, as `export` or `const`
 * - `@call`, `@type`, `@value`, `@extends` the name of a reference, with its `@qualifier`
 * - `@import` and `@export` a statement for `readImports` and `readExports`
 * - `@_x` is for predicates alone
 *
 * When several patterns capture the same name, the first pattern of the query counts.
 */
export interface Grammar {
  /** In the folder of the grammars. */
  wasm: string;
  query: string;
  readImports?(node: Node): WrittenImport[];
  /** Whether the file exports the names that an import statement declares, as in `export const { a } = require('b')`. Other imported names are no symbols. */
  exportsItsNames?(node: Node): boolean;
  /** Rewrites the source of an import for a reader outside of the modules around the import in the same file, outermost module first. */
  outsideModules?(source: string, modules: readonly string[]): string;
  /** The names exported by a statement for declarations of its file. */
  readExports?(node: Node): ExportedName[];
  isExported(declaration: Declaration): boolean;
  /** A name neither imported nor declared in the file can be a name of the tree, as in a Go package. */
  seesOtherFiles: boolean;
  /** A variable in capitals is a constant by convention. */
  capitalsAreConstant?: boolean;
  /** Names of the language, never references. */
  builtins?: ReadonlySet<string>;
  /** Qualifiers with the meaning of the method's own object. */
  self?: readonly string[];
}

export type WrittenImport = Pick<ImportFact, 'source' | 'names' | 'whole' | 'reexport'>;

export interface ExportedName {
  name: string;
  as: string;
}

export interface Declaration {
  name: string;
  kind: SymbolKind;
  /** The text of the declaration before its name, at most 300 characters: where modifiers are written. */
  head: string;
  marks: ReadonlySet<string>;
  /** The declaration or scope around the declaration. */
  parent?: { kind: SymbolKind | 'scope'; exported: boolean };
}
