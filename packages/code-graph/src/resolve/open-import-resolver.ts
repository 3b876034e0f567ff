import type { ImportFact } from '../facts.ts';
import type { Language } from '../grammars/language.ts';
import type { ImportTarget } from './import-target.ts';

export interface ImportTree {
  /** The paths of all regular files of the tree, relative, with `/`. */
  paths: Iterable<string>;
  /** The texts of the files that `isConfiguration` names, by path. One that is missing or broken counts as absent. */
  configuration: ReadonlyMap<string, string>;
  /** The files with a symbol of kind `module` whose full name (containers and name, joined with `.`) is this one. C# and PHP ask. */
  filesOfModule(name: string): readonly string[];
}

export interface ImportResolver {
  resolve(input: { path: string; language: Language; fact: ImportFact }): ImportTarget;
}

/** Whether the content of a file decides where imports lead: `tsconfig.json`, `package.json`, `go.mod`, `composer.json`, … */
export function isConfiguration(_path: string): boolean {
  throw new Error('not written yet');
}

/** Indexes the paths once (5,000 paths take about 10 ms). Pure. */
export function openImportResolver(_tree: ImportTree): ImportResolver {
  throw new Error('not written yet');
}
