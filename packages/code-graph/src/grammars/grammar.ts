import type { Node } from '@vscode/tree-sitter-wasm';
import type { ImportFact, SymbolFact } from '../facts.ts';

export type SymbolKind = SymbolFact['kind'];

/**
 * What the extraction needs to know of a language. The captures of `query` are:
 *
 * - `@symbol.KIND` a whole declaration, with its `@name`, and `@in` where its text names the container (a Go receiver)
 * - `@symbol.module.rest` a statement that puts what follows it into a module
 * - `@scope` the same without a symbol: a container with a `@name`, as a Rust `impl`
 * - `@block` a scope without a name whose variables are no symbols, as a function expression
 * - `@binding` a name that is a variable of the module or class, or local in a function
 * - `@local` a name that means nothing outside the declaration around it: a parameter, a type parameter
 * - `@drop` a name that is neither, as the key of a named argument
 * - `@mark.NAME` a range that says something about the declarations directly in it, as `export` or `const`
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
  /** How the source of an import reads outside of modules that are written around it in the same file, outermost first. */
  outsideModules?(source: string, modules: readonly string[]): string;
  /** The names under which a statement exports declarations of its file. */
  readExports?(node: Node): ExportedName[];
  isExported(declaration: Declaration): boolean;
  /** Names that the file neither imports nor declares can still be of the tree, as in a Go package. */
  seesOtherFiles: boolean;
  /** A variable in capitals is a constant by convention. */
  capitalsAreConstant?: boolean;
  /** Names of the language itself, which are no references. */
  builtins?: ReadonlySet<string>;
  /** What a qualifier of a reference is called when it means the object of the method. */
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
  /** The declaration or scope around it. */
  parent?: { kind: SymbolKind | 'scope'; exported: boolean };
}
