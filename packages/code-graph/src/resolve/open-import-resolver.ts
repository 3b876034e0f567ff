import type { ImportFact } from '../facts.ts';
import type { Language } from '../grammars/grammar-of.ts';
import { type ImportTarget, indexPaths } from './index-paths.ts';
import { cImports } from './languages/c.ts';
import { csharpImports } from './languages/csharp.ts';
import { ecmascriptImports } from './languages/ecmascript.ts';
import { goImports } from './languages/go.ts';
import { javaImports } from './languages/java.ts';
import { phpImports } from './languages/php.ts';
import { pythonImports } from './languages/python.ts';
import type { ImportContext, ResolveImport } from './languages/resolve-import.ts';
import { rustImports } from './languages/rust.ts';
import { bashImports, rubyImports } from './languages/scripts.ts';

export interface ImportTree {
  /** The paths of all regular files of the tree, relative, with `/`. */
  paths: Iterable<string>;
  /** The texts of all files accepted by `isConfiguration`, by path. A missing or broken file counts as absent. */
  configuration: ReadonlyMap<string, string>;
  /** The files with a symbol of kind `module` and this full name (containers and name, joined with `.`). C# and PHP ask. */
  filesOfModule(name: string): readonly string[];
}

export interface ImportResolver {
  resolve(input: { path: string; language: Language; fact: ImportFact }): ImportTarget;
}

const configurationName =
  /(^|\/)(tsconfig[^/]*\.json|jsconfig\.json|package\.json|go\.mod|composer\.json|Cargo\.toml|pyproject\.toml|setup\.py|setup\.cfg)$/;

/** Whether the content of a file decides where imports lead: `tsconfig.json`, `package.json`, `go.mod`, `composer.json`, … */
export function isConfiguration(path: string): boolean {
  return configurationName.test(path);
}

/** Indexes the paths once, and each language at its first use. Pure. */
export function openImportResolver(tree: ImportTree): ImportResolver {
  const context: ImportContext = {
    paths: indexPaths(tree.paths),
    configuration: tree.configuration,
    filesOfModule: tree.filesOfModule,
  };
  const opened = new Map<(context: ImportContext) => ResolveImport, ResolveImport>();
  return {
    resolve(input) {
      const open = rules[input.language];
      const resolve = opened.get(open) ?? open(context);
      opened.set(open, resolve);
      return resolve(input);
    },
  };
}

const rules: Record<Language, (context: ImportContext) => ResolveImport> = {
  typescript: ecmascriptImports,
  tsx: ecmascriptImports,
  javascript: ecmascriptImports,
  python: pythonImports,
  go: goImports,
  java: javaImports,
  rust: rustImports,
  ruby: rubyImports,
  c: cImports,
  cpp: cImports,
  csharp: csharpImports,
  php: phpImports,
  bash: bashImports,
};
